import { SottoError } from "@sotto/protocol";

/** The coded error `promise` rejects with. Anything else, or success, is a failure of the test. */
export async function refusal(promise: Promise<unknown>): Promise<SottoError> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (error instanceof SottoError) return error;
    throw error;
  }
  throw new Error(`expected a rejection, got ${String(value)}`);
}
