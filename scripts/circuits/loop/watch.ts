import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { circuitsDirectory } from "../paths.ts";

/** An editor saves a file in several steps; this long after the last one it is whole. */
const QUIET_MS = 150;

/** What a developer writes; neither what a turn writes nor an editor's own files. */
const SOURCE = /^\w[\w.-]*\.(circom|ts)$/;

/** Where sources and tests are. */
function sourceFolders(directory: string): string[] {
  const test = join(directory, "test");
  const entries = existsSync(test) ? readdirSync(test, { withFileTypes: true }) : [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(test, name));
  return [directory, join(directory, "lib"), test, ...folders].filter((folder) => existsSync(folder));
}

/**
 * Runs `turn` now and after each change of a circuit's source or of a test, one at a time. What changes during a turn
 * is the next turn's.
 * @param end ends it, after the turn that runs
 */
export async function watchCircuits(
  turn: () => Promise<void>,
  end: AbortSignal,
  directory = circuitsDirectory,
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
  // Folders, each by itself: Node's recursive watch is of files on Linux, and loses one that was replaced (by git, by an
  // editor) and then written to.
  const watchers = sourceFolders(directory).map((folder) => watch(folder, changed));
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
