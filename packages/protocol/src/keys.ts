import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { randomBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { isBytes } from "./bytes.ts";
import { BASE8, multiplyPoint, type Point, SUBGROUP_ORDER } from "./curve/babyjub.ts";
import { type Deployment, deploymentWords } from "./deployment.ts";
import { fail } from "./errors.ts";
import { parseAddress } from "./ethereum-address.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bytesToBigInt, hexToBytes } from "./hex.ts";
import { ownerTagOf } from "./note.ts";
import { encodeShieldedAddress } from "./shielded-address.ts";
import { assertInteger, assertText } from "./validate.ts";

/** Highest index of a spending key. */
export const MAX_KEY_INDEX = 2 ** 31 - 1;

/** A fresh seed, 32 bytes from the platform's cryptographic generator. */
export function randomSeed(): Uint8Array {
  return randomBytes(32);
}

function expand(seed: Uint8Array, purpose: string, size: number): Uint8Array {
  return hkdf(sha256, seed, undefined, utf8ToBytes(`sotto/v1/${purpose}`), size);
}

/** 48 bytes from HKDF, reduced modulo a number of at most 254 bits, are uniform up to 2^-130. */
function expandScalar(seed: Uint8Array, purpose: string, modulus: bigint): bigint {
  return bytesToBigInt(expand(seed, purpose, 48)) % modulus;
}

/** A viewing key is in [1, l), and odd, so that vk R has the same x for both points R that share an x. */
export function assertViewingKey(viewingKey: unknown): bigint {
  if (typeof viewingKey !== "bigint" || viewingKey < 1n || viewingKey >= SUBGROUP_ORDER || (viewingKey & 1n) === 0n) {
    fail("INVALID_KEY", "a viewing key must be an odd bigint from 1 to l - 1");
  }
  return viewingKey;
}

/**
 * All keys of a wallet in one pool, derived from its seed by HKDF-SHA256. Each key has its own purpose string, which
 * includes chain id and pool: if a spending key were the same in two pools, a payer could place the same note at the
 * same leaf index in both, and spending the two notes would reveal the same nullifier on both chains. Getters compute
 * the keys, so that logging the object does not reveal them.
 */
export class WalletKeys {
  readonly #seed: Uint8Array;
  readonly #viewingKey: bigint;
  readonly #changeKey: bigint;
  readonly #encryptionKey: Point;
  readonly #ownerTags = new Map<number, bigint>();
  /** Chain id and pool, part of every purpose string. */
  readonly #deployment: string;

  /**
   * @param seed 32 to 64 bytes
   * @param deployment the pool for which the keys are derived
   * @throws SottoError INVALID_KEY, INVALID_INTEGER, INVALID_ADDRESS
   */
  constructor(seed: Uint8Array, deployment: Deployment) {
    if (!isBytes(seed) || seed.length < 32 || seed.length > 64) {
      fail("INVALID_KEY", "a seed must be 32 to 64 bytes");
    }
    this.#seed = Uint8Array.from(seed);
    if (deployment === undefined)
      fail("INVALID_KEY", "a wallet's keys belong to a pool: derive them for its chain id and address");
    const [chainId] = deploymentWords(deployment);
    this.#deployment = `${chainId}/${parseAddress(deployment.pool, "pool")}`;
    // l is odd, so the odd numbers below it are 2 x + 1 for x below (l - 1) / 2.
    this.#viewingKey = 2n * this.#scalar("viewing-key", (SUBGROUP_ORDER - 1n) / 2n) + 1n;
    this.#changeKey = this.#scalar("change-key", FIELD_MODULUS);
    this.#encryptionKey = multiplyPoint(BASE8, this.#viewingKey);
  }

  #scalar(purpose: string, modulus: bigint): bigint {
    return expandScalar(this.#seed, `${purpose}/${this.#deployment}`, modulus);
  }

  /**
   * sk_i: spends the notes of tag i. Index 0 is for payments received and for change; its tag is part of the shielded
   * address. Higher indices are for deposits, whose tag is visible on chain.
   */
  spendingKey(index: number): bigint {
    assertInteger(index, 0, MAX_KEY_INDEX, "index");
    const purpose = index === 0 ? `spending-key/${this.#deployment}` : `deposit-key/${this.#deployment}/${index}`;
    const key = expandScalar(this.#seed, purpose, FIELD_MODULUS);
    // The probability is 2^-254, but with key 0 anyone could compute the nullifiers.
    if (key === 0n) fail("INVALID_KEY", `the seed has no spending key ${index}`);
    return key;
  }

  /** tag_i = Poseidon1(sk_i), public for i = 0. */
  ownerTag(index: number): bigint {
    let tag = this.#ownerTags.get(index);
    if (tag === undefined) {
      tag = ownerTagOf(this.spendingKey(index));
      this.#ownerTags.set(index, tag);
    }
    return tag;
  }

  /** Decrypts received payments, but not sent ones. Odd, in [1, l). */
  get viewingKey(): bigint {
    return this.#viewingKey;
  }

  /** Finds change, and so reveals spent amounts. */
  get changeKey(): bigint {
    return this.#changeKey;
  }

  /** The secret from which sender nonces are derived, 32 bytes. */
  get nonceKey(): Uint8Array {
    return expand(this.#seed, `nonce-key/${this.#deployment}`, 32);
  }

  /**
   * The secret of a pack of prepaid tokens, 32 bytes: nonces and blinds are derived from it.
   *
   * @param origin where the tokens are spent, such as "https://data.example"
   * @param keyId the merchant's key, hex with 0x
   * @param pack number of packs already bought for this key, 0 to 2^31 - 1
   */
  prepaidSecret(origin: string, keyId: string, pack: number): Uint8Array {
    assertInteger(pack, 0, MAX_KEY_INDEX, "pack");
    hexToBytes(keyId, 32, "keyId");
    return expand(this.#seed, `prepaid/${this.#deployment}/${keyId}/${pack}/${assertText(origin, "origin")}`, 32);
  }

  /** PK = vk Base8. */
  get encryptionKey(): Point {
    return this.#encryptionKey;
  }

  /** pack(PK) then tag_0: 64 bytes as hex with 0x, the wire's `encryptionPublicKey`. */
  shieldedAddress(): string {
    return encodeShieldedAddress({ encryptionKey: this.#encryptionKey, ownerTag: this.ownerTag(0) });
  }
}

/**
 * Derives the keys of a wallet in one pool.
 *
 * @param seed 32 to 64 bytes
 * @throws SottoError INVALID_KEY, INVALID_INTEGER, INVALID_ADDRESS
 */
export function deriveKeys(seed: Uint8Array, deployment: Deployment): WalletKeys {
  return new WalletKeys(seed, deployment);
}
