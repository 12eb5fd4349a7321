/** The part of our errors that tests look at; the kit imports no package, so it does not know their class. */
interface CodedError extends Error {
  readonly code: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what its error carries.
  readonly details: any;
}

const isCoded = (error: unknown): error is CodedError =>
  error instanceof Error && "code" in error && typeof error.code === "string";

/** The coded error `promise` rejects with. Anything else, or success, is a failure of the test. */
export async function rejection<E extends Error = CodedError>(promise: Promise<unknown>): Promise<E> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (isCoded(error)) return error as Error as E;
    throw error;
  }
  throw new Error(`expected a rejection, got ${String(value)}`);
}

/** The coded error `action` throws. Anything else, or success, is a failure of the test. */
export function thrown(action: () => unknown): CodedError {
  let value: unknown;
  try {
    value = action();
  } catch (error) {
    if (isCoded(error)) return error;
    throw error;
  }
  throw new Error(`expected an error, got ${String(value)}`);
}
