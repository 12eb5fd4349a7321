import { ChainError, type ChainSource, useNode } from "@sotto/chain";
import type { Address } from "@sotto/protocol";
import { ACCEPT, type Judge, REFUSE } from "./judge.ts";

/** Selector of `isSanctioned(address)`. */
const IS_SANCTIONED = "0xdf592f7d";

/** Asks a contract about the depositor. @param oracle address of a contract with `isSanctioned(address) view returns (bool)` */
export const oracleJudge = (chain: ChainSource, oracle: Address): Judge => ({
  name: "oracle",
  parameters: { oracle },
  async judge({ depositor }) {
    const data = `${IS_SANCTIONED}${depositor.slice(2).padStart(64, "0")}`;
    const answer = BigInt(
      await useNode(chain, async (node) => {
        const result = await node.call({ to: oracle, data });
        // An account without code answers nothing, which must not count as an acceptance.
        if (result.length !== 66 || BigInt(result) > 1n)
          throw new ChainError("NODE_INCONSISTENT", "the oracle's answer is not a boolean");
        return result;
      }),
    );
    return answer === 0n ? ACCEPT : REFUSE;
  },
});
