import type { EthCall } from "@sotto/protocol";
import { ChainError, isNodeFault } from "./errors.ts";
import { type ChainSource, readNewest } from "./source.ts";

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
 */
export function signatureCall(chain: ChainSource): EthCall {
  return ({ to, data }) => {
    const ask = async (node: ChainSource, block?: number): Promise<string> => {
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
