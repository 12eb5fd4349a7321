import type { Wallet } from "@sotto/client";
import {
  baseUrl,
  checkBindingSignature,
  checkBindingTime,
  isSecureUrl,
  parseAddress,
  SottoError,
} from "@sotto/protocol";
import type { X402Terms } from "@sotto/protocol/x402";
import { X402SchemeError } from "../errors.ts";

/** What a payer accepts of a seller. */
export interface Policy {
  readonly wallet: Wallet;
  /** Decimals of the pool's token, from the chain. */
  readonly decimals: number;
  /** Base addresses, in their one form. */
  readonly services: readonly string[];
}

/**
 * Refuses what is not to be paid from this wallet, before anything is begun.
 * @param limit base units of one payment, at most; undefined: the caller has no limit
 * @throws X402SchemeError X402_POOL_FOREIGN, X402_ORIGIN_NOT_SECURE, X402_SERVICE_NOT_ALLOWED, X402_LIMIT_EXCEEDED, X402_RECIPIENT_NOT_SIGNED;
 *   SottoError BINDING_UNCHECKED
 */
export async function checkTerms(terms: X402Terms, limit: bigint | undefined, policy: Policy): Promise<void> {
  const { pool: own } = policy.wallet;
  const { chainId, pool, asset, decimals, amount, service, resource } = terms;
  if (chainId !== own.chainId || pool !== own.pool || asset !== own.token)
    throw new X402SchemeError(
      "X402_POOL_FOREIGN",
      `the seller takes payments in the pool ${pool} of ${asset} on chain ${chainId}, the wallet's is ${own.pool}`,
    );
  if (decimals !== policy.decimals)
    throw new X402SchemeError(
      "X402_POOL_FOREIGN",
      `the seller gives the token ${decimals} decimals: ${asset} has others`,
    );
  if (!isSecureUrl(resource, chainId))
    throw new X402SchemeError(
      "X402_ORIGIN_NOT_SECURE",
      "who asks to be paid is at no https address: it may be anybody",
    );
  if (!policy.services.includes(baseUrl(service) ?? ""))
    throw new X402SchemeError("X402_SERVICE_NOT_ALLOWED", "the seller's service is none of those that are allowed", {
      service,
    });
  if (limit !== undefined && amount > limit)
    throw new X402SchemeError("X402_LIMIT_EXCEEDED", `${amount} base units are asked, ${limit} are allowed`, {
      amount: String(amount),
      limit: String(limit),
    });
  await checkRecipient(terms, policy.wallet);
}

/**
 * A wallet address alone proves nothing: whoever runs the server can put a key of its own beside the seller's wallet. The
 * wallet must have signed the address that is paid, for this chain and pool.
 */
async function checkRecipient({ wallet: payTo, recipient, chainId, pool }: X402Terms, wallet: Wallet): Promise<void> {
  const { shieldedAddress, signature, issuedAt, service, phone } = recipient;
  const refused = (message: string, cause?: unknown) =>
    new X402SchemeError("X402_RECIPIENT_NOT_SIGNED", message, {}, { cause });
  const binding = { phone, wallet: parseAddress(payTo), key: shieldedAddress, chainId, pool, service, issuedAt };
  try {
    checkBindingTime(binding, wallet.now());
    if (await checkBindingSignature(binding, signature, (call) => wallet.chain.call(call))) return;
  } catch (cause) {
    // A node that does not answer is not the seller's fault.
    if (!(cause instanceof SottoError) || cause.code === "BINDING_UNCHECKED") throw cause;
    throw refused(`the seller's signature cannot be taken: ${cause.message}`, cause);
  }
  throw refused("the seller's wallet did not sign the address that is to be paid");
}
