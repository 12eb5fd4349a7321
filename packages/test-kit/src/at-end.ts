/** Limit, ms: closing servers and deleting thousands of files takes long on a busy machine. */
const CLOSE_MS = 120_000;
type Hook = (this: { timeout(ms: number): void }) => Promise<void>;

/**
 * Runs `close` once, after all tests of the run. Call it at the top level of a module, while the test files load.
 * Outside a test run it does nothing.
 */
export function atEnd(close: () => Promise<unknown>): void {
  const { after } = globalThis as { after?: (hook: Hook) => void };
  after?.(async function () {
    this.timeout(CLOSE_MS);
    await close();
  });
}
