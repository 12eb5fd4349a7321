/**
 * Runs `close` once, after all tests of the run. Call it at the top level of a module, while test files load. Outside a
 * test run it does nothing.
 */
export function atEnd(close: () => Promise<unknown>): void {
  const { after } = globalThis as { after?: (hook: () => Promise<void>) => void };
  after?.(async () => {
    await close();
  });
}
