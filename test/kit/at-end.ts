/**
 * Runs `close` once, after all tests of the run. To be called while test files load, at the top level of a module. In a
 * program that is not a test run it does nothing.
 */
export function atEnd(close: () => Promise<unknown>): void {
  const { after } = globalThis as { after?: (hook: () => Promise<void>) => void };
  after?.(async () => {
    await close();
  });
}
