/** The fields of our errors that tests read. The kit imports no package, so it cannot use the error class. */
interface CodedError extends Error {
  readonly code: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the details of its error.
  readonly details: any;
}

const isCoded = (error: unknown): error is CodedError =>
  error instanceof Error && "code" in error && typeof error.code === "string";

/** The error that `promise` rejects with, with or without a code. The test fails if it resolves. */
export async function anyRejection(promise: Promise<unknown>): Promise<Error> {
  const [value, error] = await promise.then(
    (value) => [value, undefined],
    (error: unknown) => [undefined, error],
  );
  if (error instanceof Error) return error;
  throw new Error(`expected a rejection with an error, got ${String(error ?? value)}`);
}

/** The coded error that `promise` rejects with. The test fails if it resolves or rejects with anything else. */
export async function rejection<E extends Error = CodedError>(promise: Promise<unknown>): Promise<E> {
  const error = await anyRejection(promise);
  if (isCoded(error)) return error as Error as E;
  throw error;
}

/** The coded error that `action` throws. The test fails if it returns or throws anything else. */
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

/** Fails unless `error` has this code and a message that contains more than the code. */
function assertCode(error: CodedError, code: string): CodedError {
  if (error.code !== code) throw new Error(`expected ${code}, got ${error.code}: ${error.message}`, { cause: error });
  if (error.message.length <= 10) throw new Error(`${code} has no message: "${error.message}"`);
  return error;
}

/** The error with this code that `action` throws. @param message what its message must match */
export function expectCode(code: string, action: () => unknown, message = /^/): CodedError {
  const error = assertCode(thrown(action), code);
  if (!message.test(error.message)) throw new Error(`expected ${message}, got ${error.message}`, { cause: error });
  return error;
}

/** The error with this code that `action` throws or rejects with. */
export const expectRejected = async (code: string, action: () => unknown): Promise<CodedError> =>
  assertCode(await rejection(Promise.resolve().then(action)), code);
