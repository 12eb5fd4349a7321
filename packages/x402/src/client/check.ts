import { baseUrl, checkBinding, isSecureUrl, parseAddress, quoted } from "@sotto/protocol";
import type { X402Terms } from "@sotto/protocol/x402";
import { signatureCall, type Wallet } from "@sotto/wallet";
import { Interface } from "ethers";
import { X402SchemeError } from "../errors.ts";
import { originOf, quotedUrl } from "./quoted-url.ts";

/** The client's rules for payments. */
export interface Policy {
  readonly wallet: Wallet;
  /** Decimals of the pool's token, read from the chain; read again if a resource server states others. */
  decimals: number;
  /** Normalized base URLs. */
  readonly services: readonly string[];
  /** Reads the address schedules of recipients. */
  readonly fetch: typeof fetch;
}

/**
 * Refuses terms that this wallet must not pay, before the payment starts.
 * @param limit maximum for one payment, base units; undefined if the caller has none
 * @throws X402SchemeError X402_POOL_FOREIGN, X402_ORIGIN_NOT_SECURE, X402_SERVICE_NOT_ALLOWED, X402_LIMIT_EXCEEDED,
 *   X402_RECIPIENT_NOT_SIGNED; SottoError BINDING_UNCHECKED
 */
export async function assertTerms(terms: X402Terms, limit: bigint | undefined, policy: Policy): Promise<void> {
  const { pool: own } = policy.wallet;
  const { chainId, pool, asset, decimals, amount, service, resource } = terms;
  if (chainId !== own.chainId || pool !== own.pool || asset !== own.token)
    throw new X402SchemeError(
      "X402_POOL_FOREIGN",
      `the resource server asks for a payment of ${asset} in the pool ${pool} on chain ${chainId}, but the wallet is ` +
        `for ${own.token} in the pool ${own.pool} on chain ${own.chainId}`,
    );
  // One wrong answer of a node must not refuse all payments.
  if (decimals !== policy.decimals) policy.decimals = (await readToken(policy.wallet)).decimals;
  if (decimals !== policy.decimals)
    throw new X402SchemeError(
      "X402_POOL_FOREIGN",
      `the resource server states ${decimals} decimals for ${asset}, but the token has ${policy.decimals}`,
    );
  if (!isSecureUrl(resource, chainId))
    throw new X402SchemeError(
      "X402_ORIGIN_NOT_SECURE",
      `the resource is not at an https URL (${originOf(resource)}), so anyone on the network path could have asked ` +
        "for this payment",
      { resource: quotedUrl(resource) },
    );
  if (!policy.services.includes(baseUrl(service) ?? ""))
    throw new X402SchemeError(
      "X402_SERVICE_NOT_ALLOWED",
      `the resource server's service (${originOf(service)}) is not among the allowed services; add its address to ` +
        "services to allow it",
      { service: quotedUrl(service) },
    );
  if (limit !== undefined && amount > limit)
    throw new X402SchemeError("X402_LIMIT_EXCEEDED", `the price is ${amount} base units, but the limit is ${limit}`, {
      amount: String(amount),
      limit: String(limit),
    });
  await assertRecipient(terms, policy.wallet);
}

/**
 * A wallet address alone proves nothing: the operator of a server could combine the recipient's wallet with a key of
 * its own. The wallet must have signed the shielded address for this chain and pool.
 */
async function assertRecipient({ wallet: payTo, recipient, chainId, pool }: X402Terms, wallet: Wallet): Promise<void> {
  const { shieldedAddress, signature, issuedAt, service, phone } = recipient;
  const binding = { phone, wallet: parseAddress(payTo), key: shieldedAddress, chainId, pool, service, issuedAt };
  const problem = await checkBinding(binding, signature, signatureCall(wallet.chain), wallet.now());
  if (problem !== undefined)
    throw new X402SchemeError("X402_RECIPIENT_NOT_SIGNED", `the recipient's signature is invalid: ${problem}`);
}

const token = new Interface(["function decimals() view returns (uint8)", "function symbol() view returns (string)"]);
const MAX_SYMBOL_CHARS = 32;

/** @throws X402SchemeError X402_OPTION_INVALID if the pool's token returns no decimals or symbol; WalletError of the chain */
export async function readToken({ chain, pool }: Wallet): Promise<{ decimals: number; symbol: string }> {
  const read = async (name: string) => {
    const answer = await chain.call({ to: pool.token, data: token.encodeFunctionData(name) });
    try {
      return token.decodeFunctionResult(name, answer)[0] as unknown;
    } catch (cause) {
      const message = `the pool's token ${pool.token} does not return its ${name}`;
      throw new X402SchemeError("X402_OPTION_INVALID", message, {}, { cause });
    }
  };
  const [decimals, symbol] = [Number(await read("decimals")), String(await read("symbol"))];
  return { decimals, symbol: quoted(symbol, MAX_SYMBOL_CHARS) };
}
