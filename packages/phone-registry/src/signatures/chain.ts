import { type Chain, ChainError, type ChainOptions, connectChain, signatureCall } from "@sotto/chain";
import type { EthCall } from "@sotto/protocol";
import { PhoneError } from "../errors.ts";

/** Maximum size of a response, because a contract wallet decides how much its call returns. */
const MAX_RESPONSE_BYTES = 1 << 20;

/**
 * Connects to the nodes that check signatures of contract wallets. Anyone can cause these calls, so no other part of a program
 * shares this `Chain`: a wallet whose calls overload a node must not affect which node the other parts prefer.
 */
export function openSignatureChain(options: Omit<ChainOptions, "maxResponseBytes">): Chain {
  return connectChain({ ...options, maxResponseBytes: MAX_RESPONSE_BYTES });
}

/** Creates the function that calls contract wallets to check signatures. */
export function chainCall(chain: Chain): EthCall {
  const call = signatureCall(chain);
  return (request) => call(request).catch((cause: unknown) => Promise.reject(unavailable(cause)));
}

/** @throws PhoneError WRONG_CHAIN, CHAIN_UNAVAILABLE */
export async function assertSomeNode(chain: Chain): Promise<void> {
  try {
    await chain.head();
  } catch (cause) {
    if (cause instanceof ChainError && cause.code === "WRONG_CHAIN")
      throw new PhoneError("WRONG_CHAIN", cause.message, {}, { cause });
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): unknown {
  if (!(cause instanceof ChainError)) return cause;
  return new PhoneError("CHAIN_UNAVAILABLE", "no node of the chain responds; try again", {}, { cause });
}
