import { expect } from "chai";
import { EngineError, type EngineErrorCode } from "../../src/engine/index.ts";
import { retiredKeys } from "../../src/payments/retired-keys.ts";
import type { ProofVerifier } from "../../src/ports.ts";

describe("keys of retired sets", () => {
  /** Whether a proof is accepted if the engine fails with this code for the first of two keys and accepts it for the second. */
  const accepted = (code: EngineErrorCode) => {
    const verify: ProofVerifier["verify"] = async (circuit) => {
      if (circuit.endsWith("@0")) throw new EngineError(code, "no");
      return true;
    };
    const keys = retiredKeys({ verify } as ProofVerifier, { "payment@0": {}, "payment@1": {} });
    return keys.accepts("payment", [], [], "client").catch((error: EngineError) => error.code);
  };

  it("decide nothing while the engine cannot verify", async () => {
    for (const code of ["ENGINE_OVERLOADED", "ENGINE_FAILED", "ENGINE_CLOSED"] as const)
      expect(await accepted(code)).to.equal(code);
  });

  it("are tried in turn if the proof is not valid under one of them", async () => {
    expect(await accepted("CIRCUIT_UNKNOWN")).to.equal(true);
  });
});
