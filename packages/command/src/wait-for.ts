import { elapsed, type Progress } from "./progress.mjs";

/**
 * Shows what a command is waiting for, and for how long.
 * @param action receives a function that adds a detail to the line
 */
export async function waitFor<T>(
  progress: Progress,
  what: string,
  action: (detail: (text: string) => void) => Promise<T>,
): Promise<T> {
  const start = performance.now();
  let detail = "";
  progress.show(() => `${what}${detail} (${elapsed(start)})`);
  try {
    return await action((text) => {
      detail = `: ${text}`;
    });
  } finally {
    progress.stop();
  }
}
