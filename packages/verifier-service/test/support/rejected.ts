/** The error that a promise rejects with. */
export async function rejected(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  const failure = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error)) throw new Error(`expected a rejection, got ${String(failure)}`);
  return failure;
}
