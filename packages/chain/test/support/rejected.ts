/** The error that a promise rejects with. */
export async function rejected(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error(`expected a rejection, got ${String(failure)}`);
  return failure;
}

/** The error that `action` throws. */
export function thrown(action: () => unknown): Error & { code?: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("expected an error");
}
