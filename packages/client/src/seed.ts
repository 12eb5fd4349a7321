import { entropyToMnemonic, generateMnemonic, mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { type Deployment, deriveKeys, SEED_TYPED_DATA, SottoError, seedFromSignature } from "@sotto/protocol";
import { getAddress, type Signer, verifyTypedData } from "ethers";
import { WalletError } from "./errors.ts";

/** A seed is 32 bytes; everything a wallet owns follows from it and the chain. */
const SEED_BYTES = 32;
const WORDS = 24;

/** A new random seed as 24 English BIP-39 words (256 bits). Write them down: nothing else restores the wallet. */
export function createSeedWords(): string {
  return generateMnemonic(wordlist, SEED_BYTES * 8);
}

/** The words of a seed (BIP-39: the seed is the entropy, the words carry a checksum of it). */
export function wordsFromSeed(seed: Uint8Array): string {
  checkSeed(seed);
  return entropyToMnemonic(seed, wordlist);
}

/**
 * The seed of 24 BIP-39 words. Case and white space do not matter.
 * @throws WalletError INVALID_WORDS: not 24 words, a word that is not on the list (its position is named, not the word
 * itself, so that no log shows part of a secret), or a wrong checksum.
 */
export function seedFromWords(words: string): Uint8Array {
  if (typeof words !== "string") throw new WalletError("INVALID_WORDS", `expected ${WORDS} words in a string`);
  const list = words.normalize("NFKD").trim().toLowerCase().split(/\s+/u);
  if (list.length !== WORDS) throw new WalletError("INVALID_WORDS", `expected ${WORDS} words, got ${list.length}`);
  const unknown = list.findIndex((word) => !wordlist.includes(word));
  if (unknown >= 0) throw new WalletError("INVALID_WORDS", `word ${unknown + 1} is not on the BIP-39 English list`);
  try {
    return mnemonicToEntropy(list.join(" "), wordlist);
  } catch {
    throw new WalletError(
      "INVALID_WORDS",
      "the words do not fit together (wrong checksum): one is mistaken or misplaced",
    );
  }
}

/** The public address at which the wallet of this seed is paid in one pool. @throws SottoError INVALID_KEY, INVALID_ADDRESS */
export function shieldedAddressOf(seed: Uint8Array, deployment: Deployment): string {
  checkSeed(seed);
  return deriveKeys(seed, deployment).shieldedAddress();
}

/** Refuses what is not 32 bytes, and a seed of equal bytes, which is a forgotten initialisation. */
export function checkSeed(seed: Uint8Array): void {
  if (!(seed instanceof Uint8Array) || seed.length !== SEED_BYTES)
    throw new SottoError("INVALID_KEY", `a seed is ${SEED_BYTES} bytes`);
  if (seed.every((byte) => byte === seed[0])) throw new SottoError("INVALID_KEY", "this seed is not random");
}

/** The part of an ethers v6 signer that a seed needs. */
export type SeedSigner = Pick<Signer, "getAddress" | "signTypedData">;

/**
 * The seed from an EIP-712 signature of an externally owned account: nothing to write down.
 *
 * WARNING: any site can ask the account for the very same signature, and whoever gets it owns everything in the
 * shielded wallet. Seed words (`createSeedWords`) do not have this weakness; prefer them.
 *
 * The account signs twice, because only a deterministic signer (RFC 6979) can give the seed back later. Contract
 * accounts are refused for the same reason.
 * @throws SottoError INVALID_SIGNATURE: two different signatures, a high s, or one that is not the account's
 */
export async function seedFromAccount(account: SeedSigner): Promise<Uint8Array> {
  const { domain, types, message } = SEED_TYPED_DATA;
  const fields = { SottoSeed: [...types.SottoSeed] };
  const address = await account.getAddress();
  const first = await account.signTypedData(domain, fields, message);
  const seed = seedFromSignature(first);
  // Signers write v as 27 or 28, some as 0 or 1; ethers takes the former.
  const v = 27 + (Number.parseInt(first.slice(130), 16) % 27);
  const recovered = verifyTypedData(domain, fields, message, first.slice(0, 130) + v.toString(16));
  if (recovered !== getAddress(address))
    throw new SottoError("INVALID_SIGNATURE", `the signature is of ${recovered}, expected ${address}`);
  const again = seedFromSignature(await account.signTypedData(domain, fields, message));
  if (again.some((byte, i) => byte !== seed[i]))
    throw new SottoError(
      "INVALID_SIGNATURE",
      "the account signs differently each time: its seed could not be restored",
    );
  return seed;
}
