import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { FIELD_MODULUS } from "./field.ts";
import { bigIntToBytes, bytesToBigInt, concatBytes } from "./hex.ts";
import { assertText } from "./validate.ts";

/**
 * keccak256(abi.encode(words...)) for static words of 32 bytes each. Packed encodings are never used, because two
 * different lists could have the same encoding.
 */
export function keccakWords(words: readonly bigint[]): bigint {
  return bytesToBigInt(keccak_256(concatBytes(...words.map((word) => bigIntToBytes(word, 32)))));
}

/** keccak256 of the words mod p: the contracts' conversion of hashes into signals. */
export function keccakToField(words: readonly bigint[]): bigint {
  return keccakWords(words) % FIELD_MODULUS;
}

/**
 * keccak256 of a text's UTF-8 bytes, which represents the text in other hashes.
 * @throws SottoError INVALID_STRING
 */
export function keccakText(text: string, name = "text"): bigint {
  return bytesToBigInt(keccak_256(utf8ToBytes(assertText(text, name))));
}
