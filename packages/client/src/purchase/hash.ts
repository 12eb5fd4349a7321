import { keccak256, toUtf8Bytes } from "ethers";

/** 32 hex digits that stand for a text or bytes: 128 bits, so that nobody finds two for one. */
export function hashText(value: string | Uint8Array): string {
  const bytes = typeof value === "string" ? toUtf8Bytes(value) : value;
  return keccak256(bytes).slice(2, 34);
}
