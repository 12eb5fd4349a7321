import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { circuitsFolder } from "@sotto/keys/circuits/paths";

/** Delay after the last change of a file, ms: an editor saves in several steps. */
const QUIET_MS = 150;

/** Names of source files, without the files that a turn writes and an editor's temporary files. */
const SOURCE = /^\w[\w.-]*\.(circom|ts)$/;

/** The folders with sources and tests. */
function sourceFolders(folder: string): string[] {
  const test = join(folder, "test");
  const entries = existsSync(test) ? readdirSync(test, { withFileTypes: true }) : [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(test, name));
  return [folder, join(folder, "lib"), test, ...folders].filter((folder) => existsSync(folder));
}

/**
 * Runs `turn` now and after each change of a circuit's source or test, one at a time. A change during a turn starts another
 * one after it.
 * @param end stops watching, after the current turn
 */
export async function watchCircuits(
  turn: () => Promise<void>,
  end: AbortSignal,
  folder = circuitsFolder,
): Promise<void> {
  let due = true;
  let wake: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const changed = (_: string, file: string | null) => {
    if (file === null || !SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      due = true;
      wake();
    }, QUIET_MS);
  };
  // Each folder is watched separately: on Linux, Node's recursive watch follows files, and misses writes to a file
  // after git or an editor has replaced it.
  const watchers = sourceFolders(folder).map((folder) => watch(folder, changed));
  end.addEventListener("abort", () => wake());
  while (!end.aborted) {
    if (due) {
      due = false;
      await turn();
    } else await new Promise<void>((resolve) => (wake = resolve));
  }
  for (const watcher of watchers) watcher.close();
  clearTimeout(timer);
}
