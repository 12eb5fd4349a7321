import {
  type Address,
  DEPOSIT_AUTHORIZATION_TYPES,
  type DepositCall,
  hexToBytes,
  isUndeployedSignature,
} from "@sotto/protocol";
import { concat, keccak256, recoverAddress, Signature, TypedDataEncoder } from "ethers";
import { ServiceError } from "../errors.ts";
import type { RelayServices } from "../operations/enqueue.ts";
import type { Caller } from "../operations/hold.ts";
import { takeSignatureQuota } from "../operations/quotas.ts";
import type { DepositRequest } from "./schemas.ts";

/** What a depositor signs. */
export interface Authorization {
  readonly from: Address;
  readonly to: string;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: string;
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
  { config, facts, pool, store }: RelayServices,
): Promise<DepositCall["signature"]> {
  const domain = facts.tokenDomain;
  if (domain === undefined)
    throw new ServiceError(
      "AUTHORIZATION_MISMATCH",
      "the pool's token has no DOMAIN_SEPARATOR, so no authorization of it can be checked; approve the pool, and send the deposit from the account itself",
    );
  const struct = TypedDataEncoder.hashStruct("ReceiveWithAuthorization", DEPOSIT_AUTHORIZATION_TYPES, {
    ...authorization,
  });
  const digest = keccak256(concat(["0x1901", domain, struct]));
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
