export const DAY_MS = 86_400_000;

/**
 * This machine's clock until the window of so many ms is over in which it was made, counted from 1970 as quotas and days
 * are; then it stands still. For tests that use up what a window allows: they may run across its end.
 */
export function clockWithin(windowMs: number): () => number {
  const end = (Math.floor(Date.now() / windowMs) + 1) * windowMs;
  return () => Math.min(Date.now(), end - 1);
}

/** For programs, whose clock nobody can stop: not begun in the last minutes of a day (UTC). */
export async function clearOfMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 5 * 60_000) await new Promise((resolve) => setTimeout(resolve, left + 1000));
}
