import type { ErrorTable } from "@sotto/protocol";
import { expect } from "chai";
import { PHONE_ROUTE_ERRORS } from "../../src/error-definitions.ts";

describe("the errors of the registry's routes", () => {
  it("have stable HTTP statuses", () => {
    const errors: ErrorTable = PHONE_ROUTE_ERRORS;
    const statuses = Object.entries(errors).flatMap(([code, { http }]) => (http === undefined ? [] : [[code, http]]));
    expect(Object.fromEntries(statuses)).to.deep.equal({
      INVALID_REQUEST: 400,
      INVALID_PHONE_NUMBER: 400,
      AMBIGUOUS_PHONE_NUMBER: 400,
      INVALID_ADDRESS: 400,
      INVALID_SHIELDED_ADDRESS: 400,
      BINDING_INVALID: 400,
      BINDING_SIGNATURE_INVALID: 400,
      NUMBER_NOT_SERVED: 422,
      SIGNATURE_INVALID: 401,
      LOOKUP_SIGNATURE_REQUIRED: 401,
      NONCE_REFUSED: 401,
      BINDING_STALE: 422,
      BINDING_FROM_THE_FUTURE: 422,
      SIGNATURE_REPLAYED: 409,
      LINK_OUTDATED: 409,
      UNKNOWN_NUMBER: 404,
      NOT_LINKED: 404,
      CODE_WRONG: 422,
      CODE_EXPIRED: 410,
      CODE_EXHAUSTED: 410,
      CODES_LIMITED: 429,
      LOOKUPS_LIMITED: 429,
      CONTRACT_CHECKS_LIMITED: 429,
      STORE_UNAVAILABLE: 503,
      CHAIN_UNAVAILABLE: 503,
      REGISTRY_CLOSED: 503,
    });
  });
});
