import { SottoError } from "@sotto/protocol";
import { assert } from "chai";
import type { ProverErrorCode } from "../../src/index.ts";

/** Runs an action that must fail with this code, and returns the error. */
export async function expectCode(code: ProverErrorCode, run: () => unknown): Promise<SottoError> {
  let result: unknown;
  try {
    result = await run();
  } catch (error) {
    assert.instanceOf(error, SottoError);
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`expected ${code}, but it returned ${JSON.stringify(result)}`);
}
