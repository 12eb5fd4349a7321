import { createHash } from "node:crypto";
import type { LinkResult, Mapping, MappingChange, VerifyResult } from "../registry/types.ts";

/** The interface's fields, then the key, the signature and all signed fields. */
export function mappingResponse({ binding, signature, verified, expiresAt }: Mapping) {
  const { phone, wallet, key, chainId, pool, service, issuedAt } = binding;
  return {
    wallet,
    phoneHash: phoneHash(phone),
    encryptedMapping: true,
    verified,
    phoneNumber: phone,
    encryptionPublicKey: key,
    signature,
    chainId: String(chainId),
    pool,
    service,
    issuedAt,
    expiresAt,
  };
}

/**
 * A field of the interface. It is not a secret, because phone numbers can be enumerated and hashed. The registry stores
 * and looks up nothing under it.
 */
export const phoneHash = (phone: string): string => createHash("sha256").update(phone).digest("hex");

const changeResponse = ({ wallet, key }: MappingChange) => ({
  ...(wallet && { wallet }),
  ...(key && { encryptionPublicKey: key }),
});

export function provenResponse({ mapping, changed }: VerifyResult) {
  return { ...mappingResponse(mapping), ...(changed && { changed: changeResponse(changed) }) };
}

export function linkResponse(result: LinkResult) {
  const remaining = result.remaining.map((step) =>
    step.step === "enter-code" ? { step: step.step, codeExpiresAt: step.expiresAt, tries: step.tries } : step,
  );
  return { ...provenResponse(result), remaining };
}
