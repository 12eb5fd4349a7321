import { expect } from "chai";
import { type ProtocolErrorCode, SottoError } from "../../src/index.ts";

/** Runs `act`, which must throw a SottoError with this code and a message that says what was wrong. */
export function expectCode(code: ProtocolErrorCode, act: () => unknown, message?: RegExp): SottoError {
  let thrown: unknown;
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  expect(thrown, `${code} was expected`).to.be.instanceOf(SottoError);
  const error = thrown as SottoError;
  expect(error.code, error.message).to.equal(code);
  expect(error.message.length).to.be.greaterThan(10);
  if (message) expect(error.message).to.match(message);
  return error;
}
