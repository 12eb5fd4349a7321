import { REHEARSAL_CHAIN_ID } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { assertAllowedOnChain } from "../src/index.ts";

describe("development keys", function () {
  slow(this, "a circuit is compiled, and proofs made");
  it("are allowed on local chains only", async () => {
    for (const local of [31337n, 1337n, 31337, 1337]) assertAllowedOnChain("development", local);
    for (const chain of [1n, 8453n, 84532n, 31338n, 10]) {
      const error = await expectRejected("DEVELOPMENT_KEYS_REFUSED", () => assertAllowedOnChain("development", chain));
      assert.equal(error.details["chainId"], String(chain));
    }
  });

  it("are recognized in artifacts and locks; only ceremony keys are allowed on every chain", async () => {
    for (const set of ["development", "rehearsal/2026", "ceremony", "my-ceremony/2026", ""])
      await expectRejected("DEVELOPMENT_KEYS_REFUSED", () => assertAllowedOnChain({ set }, 1n));
    assertAllowedOnChain({ set: "ceremony/2026" }, 1n);
    assertAllowedOnChain({ set: "rehearsal/2026" }, 31337n);
  });

  it("are refused on the chain for rehearsals, which accepts a rehearsal's keys in production too", async () => {
    assertAllowedOnChain("rehearsal/2026", REHEARSAL_CHAIN_ID, true);
    for (const [set, chain] of [
      ["development", REHEARSAL_CHAIN_ID],
      ["rehearsal", REHEARSAL_CHAIN_ID],
      ["rehearsal/2026", REHEARSAL_CHAIN_ID + 1n],
      ["rehearsal/2026", 31337n],
    ] as const)
      await expectRejected("DEVELOPMENT_KEYS_REFUSED", () => assertAllowedOnChain(set, chain, true));
  });

  for (const bad of [0n, -1n, 0, 1.5, Number.NaN, 2 ** 60, "1"]) {
    it(`require a chain id, not ${typeof bad} ${bad}`, async () => {
      await expectRejected("CHAIN_ID_INVALID", () => assertAllowedOnChain("ceremony/2026", bad as bigint));
    });
  }
});
