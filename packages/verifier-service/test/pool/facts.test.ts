import { type Chain, ChainError } from "@sotto/chain";
import { rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { assertPool } from "../../src/pool/facts.ts";

const POOL = `0x${"11".repeat(20)}`;

describe("the check of the pool", () => {
  /** The error for a chain whose contract answers every call with `answer`. */
  const refusal = (code: string, answer: string | Error) => {
    const node = {
      code: async () => code,
      call: async () => {
        if (answer instanceof Error) throw answer;
        return answer;
      },
    };
    return rejection(assertPool(node as unknown as Chain, POOL, {}));
  };

  it("says what it found at the address instead", async () => {
    const cases: [string, string, RegExp][] = [
      ["0x", "0x", /^there is no contract at 0x1+; locally: /],
      ["0x60", "0x", /^the contract at 0x1+ is not a ShieldedPool$/],
      ["0x60", `0x${"00".repeat(32)}`, /^the pool at 0x1+ has a different note tree than this version$/],
    ];
    for (const [code, answer, message] of cases) {
      const error = await refusal(code, answer);
      expect(error.code).to.equal("POOL_MISSING");
      expect(error.message).to.match(message);
    }
  });

  it("reports an unreachable node as such, not as a wrong pool", async () => {
    const error = await refusal("0x60", new ChainError("NODE_UNREACHABLE", "no answer"));
    expect(error.code).to.equal("CHAIN_UNAVAILABLE");
  });
});
