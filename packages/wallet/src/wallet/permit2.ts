import { type Call, CallReverted, type ChainSource, readNewest } from "@sotto/chain";
import { permit2Interface, permitCall } from "@sotto/chain/ethers";
import {
  PERMIT_TYPES,
  PERMIT2,
  PERMIT2_DEPOSIT_TYPES,
  type Permit2Message,
  parseAddress,
  permit2Domain,
  permitMessage,
} from "@sotto/protocol";
import { Signature } from "ethers";
import { WalletError } from "../errors.ts";
import type { PoolInfo } from "./connect.ts";
import type { DepositSigner } from "./deposit-signer.ts";
import { answerOf, tokenDomain } from "./token.ts";

/** What an account signs for a deposit by Permit2. */
export interface Permit2Signatures {
  /** The signature for Permit2, as the account made it. */
  readonly signed: unknown;
  /** r, s and v of the permit that approves Permit2; undefined if the account approved it before. */
  readonly permit: string | undefined;
}

/**
 * Signs a deposit for Permit2 and, if Permit2 lacks the allowance, the token's permit for exactly the deposit.
 * @throws WalletError DEPOSIT_REFUSED if the chain has no Permit2; NOT_APPROVED if the token or the account has no permits
 */
export async function signPermit2(
  chain: ChainSource,
  pool: PoolInfo,
  account: DepositSigner,
  message: Permit2Message,
): Promise<Permit2Signatures> {
  const from = parseAddress(await account.getAddress(), "account");
  await assertPermit2(chain, pool);
  const { amount } = message.permitted;
  const isEnough = (answer: unknown) => BigInt(answer as bigint) >= amount;
  const allowance = await answerOf(chain, pool, "allowance", [from, PERMIT2], isEnough);
  const isApproved = allowance !== undefined && isEnough(allowance);
  const permit = isApproved ? undefined : await signPermit(chain, pool, account, from, message);
  const domain = permit2Domain(BigInt(pool.chainId));
  return { signed: await account.signTypedData(domain, PERMIT2_DEPOSIT_TYPES, message), permit };
}

/** A call of an address without code succeeds with an empty result, so the trial of a deposit would not notice. */
async function assertPermit2(chain: ChainSource, { token }: PoolInfo): Promise<void> {
  const data = permit2Interface.encodeFunctionData("nonceBitmap", [PERMIT2, 0n]);
  if ((await chain.call({ to: PERMIT2, data })) !== "0x") return;
  throw new WalletError(
    "DEPOSIT_REFUSED",
    `the token ${token} has no EIP-3009 that a wallet can sign for, and this chain has no Permit2: the account must approve the pool and send the deposit itself`,
  );
}

async function signPermit(
  chain: ChainSource,
  pool: PoolInfo,
  account: DepositSigner,
  from: string,
  message: Permit2Message,
): Promise<string> {
  const [domain, nonce] = await Promise.all([tokenDomain(chain, pool), answerOf(chain, pool, "nonces", [from])]);
  if (domain === undefined || nonce === undefined)
    throw notApproved(from, message, "the token has no permits (EIP-2612)");
  const permit = permitMessage(from, BigInt(nonce as bigint), message);
  const signed: unknown = await account.signTypedData(domain, PERMIT_TYPES, permit);
  const signature = keySignature(signed);
  if (signature !== undefined && (await accepts(chain, permitCall(pool.token, permit, signature)))) return signature;
  throw notApproved(from, message, "the token refuses its permit; only the key of an account can sign one");
}

/** r, s and v in 65 bytes; undefined if it is not the signature of a key. */
function keySignature(signed: unknown): string | undefined {
  try {
    return Signature.from(String(signed)).serialized;
  } catch {
    return undefined;
  }
}

/** Whether the token would take the permit now. A node that submits it only does what the pool would do. */
function accepts(chain: ChainSource, call: Call): Promise<boolean> {
  const attempt = async (node: ChainSource, block?: number): Promise<boolean> => {
    try {
      await node.call(call, block);
      return true;
    } catch (error) {
      if (error instanceof CallReverted) return false;
      throw error;
    }
  };
  return readNewest(chain, attempt, (found) => found);
}

function notApproved(from: string, { permitted }: Permit2Message, why: string): WalletError {
  const { amount, token } = permitted;
  return new WalletError(
    "NOT_APPROVED",
    `${from} has not approved Permit2 (${PERMIT2}) for ${amount} base units of ${token}, and ${why}`,
    { needed: String(amount), spender: PERMIT2 },
  );
}
