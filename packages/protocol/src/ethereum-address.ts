import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, fail } from "./errors.ts";
import { bytesToHex } from "./hex.ts";

/** An Ethereum address in lower case. */
export type Address = `0x${string}`;

/** EIP-55: a hex digit is upper-case if the same nibble of the lower-case address's hash is 8 or more. */
function checksum(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits))).slice(2);
  return [...digits].map((digit, i) => (Number.parseInt(hash[i]!, 16) >= 8 ? digit.toUpperCase() : digit)).join("");
}

/**
 * Parses an Ethereum address into lower case. Accepts lower case, upper case, and mixed case with a correct EIP-55 checksum.
 * @throws SottoError INVALID_ADDRESS
 */
export function parseAddress(value: unknown, name = "address"): Address {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(value))
    fail("INVALID_ADDRESS", `${name} must be 20 bytes as hex with 0x, got ${describe(value)}`, { name });
  const digits = value.slice(2);
  const lower = digits.toLowerCase();
  if (digits !== lower && digits !== digits.toUpperCase() && digits !== checksum(lower))
    fail("INVALID_ADDRESS", `${name} has a wrong EIP-55 checksum: a digit may be mistyped`, { name });
  return `0x${lower}`;
}

/** An address as a number below 2^160, its form in signals and hashes. */
export function addressToBigInt(address: string, name = "address"): bigint {
  return BigInt(parseAddress(address, name));
}
