import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, concatBytes } from "./hex.ts";
import { assertText } from "./validate.ts";

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
  return bytesToBigInt(keccak_256(utf8ToBytes(assertText(text, name))));
}
