import {
  type Address,
  DEPOSIT_AUTHORIZATION_TYPES,
  type DepositCall,
  hexToBytes,
  isUndeployedSignature,
  PERMIT_TYPES,
  PERMIT2,
  PERMIT2_DEPOSIT_TYPES,
  permit2Domain,
  permit2Message,
  permitMessage,
} from "@sotto/protocol";
import { concat, keccak256, recoverAddress, Signature, TypedDataEncoder } from "ethers";
import { ServiceError } from "../errors.ts";
import type { RelayServices } from "../operations/enqueue.ts";
import type { Caller } from "../operations/hold.ts";
import { takeSignatureQuota } from "../operations/quotas.ts";
import type { DepositRequest } from "./schemas.ts";

/** A deposit's terms that its depositor signs. */
export interface Authorization {
  readonly from: Address;
  /** The pool. */
  readonly to: Address;
  readonly ownerTags: readonly bigint[];
  readonly amounts: readonly bigint[];
  /** The sum of the notes, base units. */
  readonly value: bigint;
  readonly salt: string;
  readonly nonce: string;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
}

/**
 * The signature as the pool takes it: r, s and v if the key of `from` signed, and otherwise that of a contract account, as it
 * is. Only the chain can tell whether such an account accepts it, so `accepted` has a signature that was checked before.
 * @throws ServiceError INVALID_REQUEST, AUTHORIZATION_MISMATCH, QUOTA_EXCEEDED, CHAIN_UNAVAILABLE
 */
export async function checkSignature(
  body: DepositRequest,
  authorization: Authorization,
  accepted: DepositCall["signature"] | undefined,
  caller: Caller,
  services: RelayServices,
): Promise<DepositCall["signature"]> {
  const { config, pool, store } = services;
  const digest = (body.permit2 === undefined ? tokenDigest : permit2Digest)(authorization, services);
  const { signature, parts } = parseSignature(body);
  const canonical = recoverKey(authorization.from, digest, signature);
  if (canonical !== undefined || signature === accepted) return canonical ?? signature;
  // Parts are those of a key, so the chain is not asked.
  if (!parts) {
    if (isUndeployedSignature(signature))
      throw new ServiceError(
        "AUTHORIZATION_MISMATCH",
        "the contract account `from` is not deployed (EIP-6492), and the token accepts only deployed accounts: deploy it first",
      );
    await takeSignatureQuota(store, config, caller.client);
    if (await pool.acceptsSignature(authorization.from, digest, signature)) return signature;
  }
  throw new ServiceError("AUTHORIZATION_MISMATCH", "the signature is not that of `from` for these notes and times");
}

/** @throws ServiceError AUTHORIZATION_MISMATCH */
function tokenDigest(authorization: Authorization, { facts }: RelayServices): string {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  if (facts.tokenDomain === undefined)
    throw new ServiceError(
      "AUTHORIZATION_MISMATCH",
      "the pool's token has no DOMAIN_SEPARATOR, so no authorization of it can be checked; sign for Permit2, or approve the pool and send the deposit from the account itself",
    );
  const message = { from, to, value, validAfter, validBefore, nonce };
  const struct = TypedDataEncoder.hashStruct("ReceiveWithAuthorization", DEPOSIT_AUTHORIZATION_TYPES, message);
  return keccak256(concat(["0x1901", facts.tokenDomain, struct]));
}

/** @throws ServiceError AUTHORIZATION_MISMATCH */
function permit2Digest(authorization: Authorization, { config, facts }: RelayServices): string {
  if (!facts.hasPermit2) throw new ServiceError("AUTHORIZATION_MISMATCH", `this chain has no Permit2 at ${PERMIT2}`);
  if (authorization.validAfter !== 0n)
    throw new ServiceError("AUTHORIZATION_MISMATCH", "Permit2 has no validAfter; it must be 0");
  const message = messageOf(authorization, facts);
  return TypedDataEncoder.hash(permit2Domain(BigInt(config.chainId)), PERMIT2_DEPOSIT_TYPES, { ...message });
}

/**
 * Checks that Permit2 may take the tokens of a deposit: it has the allowance, or the depositor's key signed a permit that gives
 * it, which the pool submits first.
 * @throws ServiceError AUTHORIZATION_MISMATCH, NOT_APPROVED, CHAIN_UNAVAILABLE
 */
export async function checkAllowance(
  { permit2 }: DepositRequest,
  authorization: Authorization,
  { facts, pool }: RelayServices,
): Promise<void> {
  const { from, value } = authorization;
  if (permit2 === undefined || (await pool.permit2Allows(from, value))) return;
  // A deposit that somebody else submitted has used its permit.
  if ((await pool.newestOf({ ...authorization, permit2 })).isUsed) return;
  const permit = permit2.permit?.toLowerCase();
  if (permit === undefined)
    throw new ServiceError("NOT_APPROVED", `\`from\` has not approved Permit2 (${PERMIT2}) for ${value} base units`);
  const nonce = await pool.permitNonceOf(from);
  if (nonce === undefined || facts.tokenDomain === undefined)
    throw new ServiceError(
      "NOT_APPROVED",
      "the token has no permits (EIP-2612); approve Permit2 from the account itself",
    );
  const struct = TypedDataEncoder.hashStruct(
    "Permit",
    PERMIT_TYPES,
    permitMessage(from, nonce, messageOf(authorization, facts)),
  );
  const digest = keccak256(concat(["0x1901", facts.tokenDomain, struct]));
  // The pool splits it, so it must be in this encoding.
  if (recoverKey(from, digest, permit) !== permit)
    throw new ServiceError(
      "AUTHORIZATION_MISMATCH",
      "permit2.permit is not signed by the key of `from` for Permit2, the sum of the notes, the deposit's deadline and the token's next nonce",
    );
}

const messageOf = ({ to: pool, ...terms }: Authorization, { token }: RelayServices["facts"]) =>
  permit2Message({ ...terms, pool, token });

/** @throws ServiceError INVALID_REQUEST; SottoError INVALID_HEX */
function parseSignature({ signature, v, r, s }: DepositRequest): { signature: string; parts: boolean } {
  if (signature !== undefined && v === undefined && r === undefined && s === undefined)
    return { signature: signature.toLowerCase(), parts: false };
  if (signature !== undefined || v === undefined || r === undefined || s === undefined)
    throw new ServiceError("INVALID_REQUEST", "give either signature, or v, r and s");
  // Only the encoding that the token receives: ethers would also accept 0X, and read v = 91 as 27.
  hexToBytes(r, 32, "r");
  hexToBytes(s, 32, "s");
  if (v !== 27 && v !== 28) throw new ServiceError("INVALID_REQUEST", "v must be 27 or 28");
  return { signature: concat([r, s, `0x${v.toString(16)}`]), parts: true };
}

/** r, s and v in 65 bytes if the key of `from` signed, in any of their encodings. */
function recoverKey(from: string, digest: string, signature: string): string | undefined {
  try {
    const parsed = Signature.from(signature);
    return recoverAddress(digest, parsed).toLowerCase() === from ? parsed.serialized : undefined;
  } catch {
    // Not the signature of a key.
    return undefined;
  }
}
