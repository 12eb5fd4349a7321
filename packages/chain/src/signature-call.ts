import type { EthCall } from "@sotto/protocol";
import { ChainError, isNodeFault } from "./errors.ts";
import type { Block } from "./rpc/values.ts";
import { type ChainSource, inconsistent, readBlock, readNewest } from "./source.ts";

/** Gas limit: enough to deploy and call any wallet, and small enough for a node to run at once. */
const GAS = "0x989680";
/** The validator's result for a signature that the wallet does not accept. */
const NOT_ACCEPTED = `0x${"00".repeat(32)}`;

/** The validator's result for a signature that the wallet accepts. */
const ACCEPTED = `0x${"00".repeat(31)}01`;

/**
 * Creates the function that calls contract wallets to check signatures. A call that reverts or runs out of gas counts as a
 * signature that is not accepted, because the wallet's code decides how it reacts. A node that is behind may not have the
 * wallet yet, so only a node that has the newest block can refuse a signature.
 * @param last a block that the caller knows; a node without it cannot refuse a signature either
 */
export function signatureCall(chain: ChainSource, last?: Pick<Block, "number" | "hash">): EthCall {
  return ({ to, data }) => {
    const ask = async (node: ChainSource, block?: number): Promise<string> => {
      const answer = await execute(node, block);
      if (answer !== ACCEPTED && last !== undefined) {
        const { hash } = await readBlock(node, last.number);
        if (hash !== last.hash) throw inconsistent(node, `has another block ${last.number}`);
      }
      return answer;
    };
    const execute = async (node: ChainSource, block?: number): Promise<string> => {
      try {
        return await node.call({ to, data, gas: GAS }, block);
      } catch (error) {
        if (error instanceof ChainError && !isNodeFault(error)) return NOT_ACCEPTED;
        throw error;
      }
    };
    return readNewest(chain, ask, (result) => result === ACCEPTED);
  };
}
