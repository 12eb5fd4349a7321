import type { EthCall } from "@sotto/protocol";
import type { Chain } from "./chain.ts";
import { ChainError, isNodeFault } from "./errors.ts";

/** Gas limit: enough to deploy and call any wallet, and small enough for a node to run at once. */
const GAS = "0x989680";
/** The validator's result for a signature that the wallet does not accept. */
const NOT_ACCEPTED = `0x${"00".repeat(32)}`;

/**
 * Creates the function that calls contract wallets to check signatures. A call that reverts or runs out of gas counts as a
 * signature that is not accepted, because the wallet's code decides how it reacts.
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
