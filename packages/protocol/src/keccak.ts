import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, fail } from "./errors.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, bytesToHex, concatBytes } from "./hex.ts";
import { expectObject, expectText, expectUint } from "./validate.ts";

/** An Ethereum address in lower case. */
export type Address = `0x${string}`;

/**
 * keccak256(abi.encode(words...)) of words that are all static, i.e. of 32 bytes each. (Packed encodings are used
 * nowhere: two different lists could have the same bytes.)
 */
export function keccakWords(words: readonly bigint[]): bigint {
  return bytesToBigInt(keccak_256(concatBytes(...words.map((word) => bigIntToBytes(word, 32)))));
}

/** keccak256 of the words, as a field element: how the contracts make signals out of hashes. */
export function keccakToField(words: readonly bigint[]): bigint {
  return keccakWords(words) % FIELD_MODULUS;
}

/** How a text enters a hash: keccak256 of its UTF-8 bytes. Throws INVALID_STRING. */
export function keccakText(text: string, name = "text"): bigint {
  return bytesToBigInt(keccak_256(utf8ToBytes(expectText(text, name))));
}

/** EIP-55: a hex digit is upper-case where the hash of the lower-case address has a nibble of 8 or more. */
function checksum(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits))).slice(2);
  return [...digits].map((digit, i) => (Number.parseInt(hash[i]!, 16) >= 8 ? digit.toUpperCase() : digit)).join("");
}

/**
 * An Ethereum address in lower case. Accepts lower case, upper case, and mixed case with a right EIP-55 checksum.
 *
 * @throws SottoError INVALID_ADDRESS
 */
export function parseAddress(value: unknown, name = "address"): Address {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(value)) {
    fail("INVALID_ADDRESS", `${name} must be 20 bytes as hex with 0x, got ${describe(value)}`, { name });
  }
  const digits = value.slice(2);
  const lower = digits.toLowerCase();
  if (digits !== lower && digits !== digits.toUpperCase() && digits !== checksum(lower)) {
    fail("INVALID_ADDRESS", `${name} has a wrong EIP-55 checksum: a digit may be mistyped`, { name });
  }
  return `0x${lower}`;
}

/** An address as a number below 2^160: how it enters signals and hashes. */
export function addressToBigInt(address: string, name = "address"): bigint {
  return BigInt(parseAddress(address, name));
}

/** The pool a hash is bound to: no proof, context or blinding of one deployment holds for another. */
export interface Deployment {
  /** EIP-155 chain id. */
  readonly chainId: bigint;
  /** Address of the ShieldedPool. */
  readonly pool: string;
}

/** The first two words of every context. Throws INVALID_INTEGER, INVALID_ADDRESS. */
export function deploymentWords(deployment: Deployment): [chainId: bigint, pool: bigint] {
  expectObject(deployment, "the deployment");
  const { chainId, pool } = deployment;
  return [expectUint(chainId, 256, "chainId"), addressToBigInt(pool, "pool")];
}
