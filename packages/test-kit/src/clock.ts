export const DAY_MS = 86_400_000;

/**
 * Returns a clock that follows this machine's clock and stops at the end of the current window. Windows are counted from
 * 1970, like quotas and days. Thus a test that exhausts a quota stays in one window, even if it runs past the window's
 * end.
 */
export function clockWithin(windowMs: number): () => number {
  const end = (Math.floor(Date.now() / windowMs) + 1) * windowMs;
  return () => Math.min(Date.now(), end - 1);
}

/**
 * Waits for the next UTC day if the current one ends within five minutes, because a test cannot stop a program's clock.
 */
export async function clearOfMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 5 * 60_000) await new Promise((resolve) => setTimeout(resolve, left + 1000));
}
