import { checkBinding, decodeShieldedAddress, type EthCall, parseAddress } from "@sotto/protocol";
import type { X402Recipient } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";

/** The recipient: its wallet, its shielded address, and the wallet's signature over both (`bindingTypedData`). */
export interface SottoRecipient {
  /** Address of the account that signed, 20 bytes as hex with 0x. */
  readonly wallet: string;
  /** 64 bytes as hex with 0x. */
  readonly shieldedAddress: string;
  /** The wallet's EIP-712 signature over its shielded address, hex with 0x; at most 400 days old. */
  readonly signature: string;
  /** When the wallet signed, Unix seconds. */
  readonly issuedAt: number;
  /** Base URL of the phone registry that the binding names. Default: none. */
  readonly service?: string;
  /** E.164. Default: none. */
  readonly phone?: string;
}

/** Clients refuse longer signatures. */
const SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,2048}$/;

const recipientExtra = ({ shieldedAddress, signature, issuedAt, service = "", phone = "" }: SottoRecipient) => ({
  shieldedAddress,
  signature: signature.toLowerCase(),
  issuedAt,
  ...(service === "" ? {} : { service }),
  ...(phone === "" ? {} : { phone }),
});

/** @throws X402SchemeError X402_OPTION_INVALID */
export function parseRecipient(recipient: SottoRecipient): {
  readonly wallet: string;
  readonly extra: Partial<X402Recipient>;
} {
  if (typeof recipient !== "object" || recipient === null || !SIGNATURE.test(recipient.signature))
    throw new X402SchemeError("X402_OPTION_INVALID", "recipient.signature must be the wallet's signature, hex with 0x");
  try {
    decodeShieldedAddress(recipient.shieldedAddress);
    return { wallet: parseAddress(recipient.wallet, "recipient.wallet"), extra: recipientExtra(recipient) };
  } catch (cause) {
    throw new X402SchemeError("X402_OPTION_INVALID", `recipient: ${(cause as Error).message}`, {}, { cause });
  }
}

/**
 * Checks the recipient as every client does, so that a wrong signature fails at startup.
 * @param call eth_call on the chain, for wallets that are contracts
 * @param now ms
 * @throws X402SchemeError X402_OPTION_INVALID; SottoError BINDING_UNCHECKED
 */
export async function assertOwnBinding(
  { wallet, shieldedAddress, signature, issuedAt, service = "", phone = "" }: SottoRecipient,
  { chainId, pool }: { readonly chainId: bigint; readonly pool: string },
  call: EthCall,
  now: number,
): Promise<void> {
  const binding = { phone, wallet, key: shieldedAddress, chainId, pool, service, issuedAt };
  const problem = await checkBinding(binding, signature, call, now);
  if (problem !== undefined) throw new X402SchemeError("X402_OPTION_INVALID", `recipient: ${problem}`);
}
