import { entropyToMnemonic, generateMnemonic, mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import {
  type Deployment,
  deriveKeys,
  isBytes,
  ProtocolError,
  SEED_TYPED_DATA,
  seedFromSignature,
  trimPasted,
} from "@sotto/protocol";
import { getAddress, type Signer, verifyTypedData } from "ethers";
import { WalletError } from "./errors.ts";

/** Bytes of a seed. A wallet is restored from its seed and the chain. */
const SEED_BYTES = 32;
const WORDS = 24;

/**
 * A new random seed as 24 English BIP-39 words (256 bits). Write them down: they are the only way to restore the
 * wallet.
 */
export function createSeedWords(): string {
  return generateMnemonic(wordlist, SEED_BYTES * 8);
}

/** The words of a seed (BIP-39: the seed is the entropy, the words include its checksum). */
export function wordsFromSeed(seed: Uint8Array): string {
  assertSeed(seed);
  return entropyToMnemonic(seed, wordlist);
}

/**
 * The seed of 24 BIP-39 words. Case, white space and invisible characters around words do not matter.
 * @throws WalletError INVALID_WORDS: not 24 words, a word that is not on the list (its position is named, not the word
 * itself, so that no log shows part of a secret), or a wrong checksum.
 */
export function seedFromWords(words: string): Uint8Array {
  if (typeof words !== "string") throw new WalletError("INVALID_WORDS", `expected ${WORDS} words in a string`);
  const list = words
    .normalize("NFKD")
    .toLowerCase()
    .split(/\s+/u)
    .map(trimPasted)
    .filter((word) => word !== "");
  if (list.length !== WORDS) throw new WalletError("INVALID_WORDS", `expected ${WORDS} words, got ${list.length}`);
  const unknown = list.findIndex((word) => !wordlist.includes(word));
  if (unknown >= 0) throw new WalletError("INVALID_WORDS", `word ${unknown + 1} is not on the BIP-39 English list`);
  try {
    return mnemonicToEntropy(list.join(" "), wordlist);
  } catch {
    throw new WalletError("INVALID_WORDS", "the checksum of the words is wrong: a word is mistyped or out of order");
  }
}

/** The shielded address of this seed's wallet in one pool. @throws SottoError INVALID_KEY, INVALID_ADDRESS */
export function shieldedAddressOf(seed: Uint8Array, deployment: Deployment): string {
  assertSeed(seed);
  return deriveKeys(seed, deployment).shieldedAddress();
}

/** Refuses seeds that are not 32 bytes, and seeds of equal bytes, which come from an uninitialized buffer. */
export function assertSeed(seed: Uint8Array): void {
  if (!isBytes(seed) || seed.length !== SEED_BYTES)
    throw new ProtocolError("INVALID_KEY", `a seed is ${SEED_BYTES} bytes`);
  if (seed.every((byte) => byte === seed[0])) throw new ProtocolError("INVALID_KEY", "this seed is not random");
}

/** The part of an ethers v6 signer that is needed to derive a seed. */
export type SeedSigner = Pick<Signer, "getAddress" | "signTypedData">;

/**
 * Derives the seed from an EIP-712 signature of an externally owned account, so that there is nothing to write down.
 *
 * WARNING: any site can ask the account for the same signature, and anyone who has it controls the shielded wallet.
 * Prefer seed words (`createSeedWords`), which do not have this weakness.
 *
 * The account signs twice, because only a deterministic signer (RFC 6979) can reproduce the seed later. Contract
 * accounts are refused for the same reason.
 * @throws SottoError INVALID_SIGNATURE if the two signatures differ, s is high, or the account did not sign
 */
export async function seedFromAccount(account: SeedSigner): Promise<Uint8Array> {
  const { domain, types, message } = SEED_TYPED_DATA;
  const fields = { SottoSeed: [...types.SottoSeed] };
  const address = await account.getAddress();
  const first = await account.signTypedData(domain, fields, message);
  const seed = seedFromSignature(first);
  // Most signers return v as 27 or 28, some as 0 or 1; ethers accepts only the former.
  const v = 27 + (Number.parseInt(first.slice(130), 16) % 27);
  const recovered = verifyTypedData(domain, fields, message, first.slice(0, 130) + v.toString(16));
  if (recovered !== getAddress(address))
    throw new ProtocolError("INVALID_SIGNATURE", `the signature is of ${recovered}, expected ${address}`);
  const again = seedFromSignature(await account.signTypedData(domain, fields, message));
  if (again.some((byte, i) => byte !== seed[i]))
    throw new ProtocolError(
      "INVALID_SIGNATURE",
      "the account signs differently each time, so its seed could not be restored; use seed words instead",
    );
  return seed;
}
