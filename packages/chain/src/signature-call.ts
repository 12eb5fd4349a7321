import type { EthCall } from "@sotto/protocol";
import type { Chain } from "./chain.ts";
import { ChainError, isNodeFault } from "./errors.ts";

/** More than deploying and asking any wallet costs, and little enough for a node to answer at once. */
const GAS = "0x989680";
/** The validator's answer for a signature that is not accepted. */
const NOT_ACCEPTED = `0x${"00".repeat(32)}`;

/**
 * Asks the chain about a contract wallet's signature. A call that reverts or runs out of gas has not accepted anything:
 * how a wallet treats a signature is its own affair.
 */
export function signatureCall(chain: Chain): EthCall {
  return async ({ to, data }) => {
    try {
      return await chain.call({ to, data, gas: GAS });
    } catch (error) {
      if (error instanceof ChainError && !isNodeFault(error)) return NOT_ACCEPTED;
      throw error;
    }
  };
}
