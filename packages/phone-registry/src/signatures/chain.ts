import { type Chain, ChainError, type ChainOptions, connectChain, signatureCall } from "@sotto/chain";
import type { EthCall } from "@sotto/protocol";
import { PhoneError } from "../errors.ts";

/** A contract wallet chooses what its call returns: more than this is not read. */
const MAX_RESPONSE_BYTES = 1 << 20;

/**
 * The nodes that are asked about signatures of contract wallets. Anybody can make them ask: no other part of a program
 * shares this reader, so that a wallet whose calls trouble a node does not change which node the others prefer.
 */
export function openSignatureChain(options: Omit<ChainOptions, "maxResponseBytes">): Chain {
  return connectChain({ ...options, maxResponseBytes: MAX_RESPONSE_BYTES });
}

/** Asks the chain about a contract wallet's signature. */
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
  return new PhoneError("CHAIN_UNAVAILABLE", "no node of the chain answers; try again", {}, { cause });
}
