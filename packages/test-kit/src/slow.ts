/** Limit for a slow test or hook, ms: generous enough for a machine several times slower than the author's. */
export const SLOW_MS = process.env["SOTTO_LONG"] === "1" ? 3_600_000 : 600_000;

/**
 * Gives the tests of a group, or one test or hook, longer than 30 seconds.
 * @param why the reason why they are slow
 */
export function slow(context: { timeout(ms: number): unknown }, why: string): void {
  if (why === "") throw new Error("a slow test says why it is slow");
  context.timeout(SLOW_MS);
}
