import type { Point } from "./curve/babyjub.ts";
import { packPoint, unpackPoint } from "./curve/codec.ts";
import { describe, fail, ProtocolError, SottoError } from "./errors.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, hexToBytes } from "./hex.ts";
import { assertField, assertObject } from "./validate.ts";

/** An address to which private payments are sent. */
export interface ShieldedAddress {
  /** PK, in the prime-order subgroup and not the identity. */
  readonly encryptionKey: Point;
  /** tag_0 of the recipient. */
  readonly ownerTag: bigint;
}

/** pack(PK) then the tag, big-endian: 64 bytes as lower-case hex with 0x. */
export function encodeShieldedAddress(address: ShieldedAddress): string {
  assertObject(address, "a shielded address");
  const { encryptionKey, ownerTag } = address;
  const tag = bigIntToBytes(assertField(ownerTag, "ownerTag"), 32);
  return packPoint(encryptionKey) + bytesToHex(tag).slice(2);
}

/** Strict inverse of `encodeShieldedAddress`. @throws SottoError INVALID_SHIELDED_ADDRESS */
export function decodeShieldedAddress(hex: unknown): ShieldedAddress {
  try {
    hexToBytes(hex, 64, "a shielded address");
    const text = hex as string;
    const encryptionKey = unpackPoint(text.slice(0, 66), "its encryption key");
    const ownerTag = bytesToBigInt(hexToBytes(`0x${text.slice(66)}`, 32));
    if (ownerTag >= FIELD_MODULUS) fail("INVALID_FIELD_ELEMENT", "its owner tag is not below p");
    return { encryptionKey, ownerTag };
  } catch (cause) {
    const reason = cause instanceof SottoError ? cause.message : describe(cause);
    throw new ProtocolError("INVALID_SHIELDED_ADDRESS", `not a shielded address: ${reason}`, {}, { cause });
  }
}

/**
 * tag_0 of the wallet that owns what an address receives: the addresses of all its months have it.
 * @throws SottoError INVALID_SHIELDED_ADDRESS
 */
export const addressOwnerTag = (shieldedAddress: unknown): bigint => decodeShieldedAddress(shieldedAddress).ownerTag;
