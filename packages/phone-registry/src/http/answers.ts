import { createHash } from "node:crypto";
import type { LinkResult, Mapping, MappingChange, VerifyResult } from "../registry/types.ts";

/** The fields of the interface, then the key, the signature and everything that was signed. */
export function mappingAnswer({ binding, signature, verified, expiresAt }: Mapping) {
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
 * What the interface calls for, and no secret: who has a list of numbers has their hashes. Nothing is stored or looked
 * up under it.
 */
export const phoneHash = (phone: string): string => createHash("sha256").update(phone).digest("hex");

const changeAnswer = ({ wallet, key }: MappingChange) => ({
  ...(wallet && { wallet }),
  ...(key && { encryptionPublicKey: key }),
});

export function provenAnswer({ mapping, changed }: VerifyResult) {
  return { ...mappingAnswer(mapping), ...(changed && { changed: changeAnswer(changed) }) };
}

export function linkAnswer(result: LinkResult) {
  const remaining = result.remaining.map((step) =>
    step.step === "enter-code" ? { step: step.step, codeExpiresAt: step.expiresAt, tries: step.tries } : step,
  );
  return { ...provenAnswer(result), remaining };
}
