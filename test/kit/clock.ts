export const DAY_MS = 86_400_000;

/**
 * Returns a clock that follows this machine's clock and stops at the end of the current window. Windows are counted from
 * 1970, like quotas and days. It keeps a test that exhausts a quota in one window, even if the test runs past its end.
 */
export function clockWithin(windowMs: number): () => number {
  const end = (Math.floor(Date.now() / windowMs) + 1) * windowMs;
  return () => Math.min(Date.now(), end - 1);
}

/** Waits for the next day (UTC) if this one ends within five minutes, because a test cannot stop a program's clock. */
export async function clearOfMidnight(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < 5 * 60_000) await new Promise((resolve) => setTimeout(resolve, left + 1000));
}
