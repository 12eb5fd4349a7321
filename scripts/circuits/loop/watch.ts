import { watch } from "node:fs";
import { circuitsDirectory } from "../paths.ts";

/** An editor saves a file in several steps; this long after the last one it is whole. */
const QUIET_MS = 150;

/** What a developer writes; nothing that a turn does. */
const SOURCE = /^((lib[\\/])?[\w-]+\.circom|test[\\/].*\.ts)$/;

/**
 * Runs `turn` now and after each change of a circuit's source or of a test, one at a time. What changes during a turn
 * is the next turn's.
 * @param end ends it, after the turn that runs
 */
export async function watchCircuits(turn: () => Promise<void>, end: AbortSignal): Promise<void> {
  let due = true;
  let wake: () => void = () => {};
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(circuitsDirectory, { recursive: true }, (_, file) => {
    if (file === null || !SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      due = true;
      wake();
    }, QUIET_MS);
  });
  end.addEventListener("abort", () => wake());
  while (!end.aborted) {
    if (due) {
      due = false;
      await turn();
    } else await new Promise<void>((resolve) => (wake = resolve));
  }
  watcher.close();
  clearTimeout(timer);
}
