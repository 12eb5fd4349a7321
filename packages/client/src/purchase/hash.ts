import { keccak256, toUtf8Bytes } from "ethers";

/** A hash of a text or bytes: 32 hex digits, 128 bits of keccak256. */
export function hashText(value: string | Uint8Array): string {
  const bytes = typeof value === "string" ? toUtf8Bytes(value) : value;
  return keccak256(bytes).slice(2, 34);
}
