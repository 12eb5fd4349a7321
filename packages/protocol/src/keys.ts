import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { randomBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { isBytes } from "./bytes.ts";
import { BASE8, multiplyPoint, type Point, SUBGROUP_ORDER } from "./curve/babyjub.ts";
import { type Deployment, deploymentWords } from "./deployment.ts";
import { describe, fail } from "./errors.ts";
import { parseAddress } from "./ethereum-address.ts";
import { FIELD_MODULUS } from "./field.ts";
import { bytesToBigInt } from "./hex.ts";
import { type Month, parseMonth } from "./month.ts";
import { ownerTagOf } from "./note.ts";
import { encodeShieldedAddress } from "./shielded-address.ts";
import { assertInteger, assertText } from "./validate.ts";

/** Highest index of a spending key. */
export const MAX_KEY_INDEX = 2 ** 31 - 1;

/** Length of a secret that an extension derives, bytes. */
const MIN_DERIVED_BYTES = 16;
const MAX_DERIVED_BYTES = 64;
/** Maximum characters of an extension's label. */
const MAX_LABEL_LENGTH = 1024;
/** The name of an extension, which begins its labels. */
const EXTENSION = /^[a-z][a-z0-9-]{0,31}$/;

/** What the wallet's own keys are derived for. Extensions get no secret whose name has this form. */
type CoreKey = `${string}-key`;
const isCoreKey = (name: string): name is CoreKey => name.endsWith("-key");

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
  if (typeof viewingKey !== "bigint" || viewingKey < 1n || viewingKey >= SUBGROUP_ORDER || (viewingKey & 1n) === 0n)
    fail("INVALID_KEY", "a viewing key must be an odd bigint from 1 to l - 1");
  return viewingKey;
}

/** An odd scalar in [1, l). l is odd, so the odd numbers below it are 2 x + 1 for x below (l - 1) / 2. */
const expandViewingKey = (seed: Uint8Array, purpose: string): bigint =>
  2n * expandScalar(seed, purpose, (SUBGROUP_ORDER - 1n) / 2n) + 1n;

/**
 * The keys of a wallet's address of one month, in one pool. Getters give the keys, so that logging the object does not reveal
 * them.
 */
export class MonthKeys {
  /** The month that the address is for. */
  readonly month: Month;
  /** PK of the month, viewingKey Base8. */
  readonly encryptionKey: Point;
  /** pack(PK of the month) then tag_0: 64 bytes as hex with 0x. Its notes are spent with the same key as all others. */
  readonly shieldedAddress: string;
  readonly #viewingKey: bigint;
  readonly #changeKey: bigint;

  /** @internal */
  constructor(month: Month, viewingKey: bigint, changeKey: bigint, ownerTag: bigint) {
    this.month = month;
    this.#viewingKey = viewingKey;
    this.#changeKey = changeKey;
    this.encryptionKey = multiplyPoint(BASE8, viewingKey);
    this.shieldedAddress = encodeShieldedAddress({ encryptionKey: this.encryptionKey, ownerTag });
  }

  /** Decrypts payments to the month's address, and no others. Odd, in [1, l). */
  get viewingKey(): bigint {
    return this.#viewingKey;
  }

  /** Finds the change of the month's payments, and so reveals what they spent. */
  get changeKey(): bigint {
    return this.#changeKey;
  }
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
  readonly #months = new Map<Month, MonthKeys>();
  /** Chain id and pool, part of every purpose string. */
  readonly #deployment: string;

  /**
   * @param seed 32 to 64 bytes
   * @param deployment the pool for which the keys are derived
   * @throws SottoError INVALID_KEY, INVALID_INTEGER, INVALID_ADDRESS
   */
  constructor(seed: Uint8Array, deployment: Deployment) {
    if (!isBytes(seed) || seed.length < 32 || seed.length > 64) fail("INVALID_KEY", "a seed must be 32 to 64 bytes");
    this.#seed = Uint8Array.from(seed);
    if (deployment === undefined)
      fail("INVALID_KEY", "a wallet's keys belong to a pool: derive them for its chain id and address");
    const [chainId] = deploymentWords(deployment);
    this.#deployment = `${chainId}/${parseAddress(deployment.pool, "pool")}`;
    this.#viewingKey = expandViewingKey(seed, this.#purpose("viewing-key"));
    this.#changeKey = expandScalar(seed, this.#purpose("change-key"), FIELD_MODULUS);
    this.#encryptionKey = multiplyPoint(BASE8, this.#viewingKey);
  }

  #purpose(name: CoreKey): string {
    return `${name}/${this.#deployment}`;
  }

  /**
   * sk_i: spends the notes of tag i. Index 0 is for payments received and for change; its tag is part of the shielded
   * address. Higher indices are for deposits, whose tag is visible on chain.
   */
  spendingKey(index: number): bigint {
    assertInteger(index, 0, MAX_KEY_INDEX, "index");
    const purpose = index === 0 ? this.#purpose("spending-key") : `${this.#purpose("deposit-key")}/${index}`;
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

  /**
   * The keys of the month's address. Each is derived from the seed alone, so none of them gives another month's.
   * @throws SottoError INVALID_MONTH
   */
  ofMonth(month: Month): MonthKeys {
    let keys = this.#months.get(parseMonth(month));
    if (keys === undefined) {
      const purpose = (name: CoreKey) => `${this.#purpose(name)}/${month}`;
      const viewingKey = expandViewingKey(this.#seed, purpose("viewing-key"));
      const changeKey = expandScalar(this.#seed, purpose("change-key"), FIELD_MODULUS);
      keys = new MonthKeys(month, viewingKey, changeKey, this.ownerTag(0));
      this.#months.set(month, keys);
    }
    return keys;
  }

  /** Decrypts payments to the lasting address, but not sent ones. Odd, in [1, l). */
  get viewingKey(): bigint {
    return this.#viewingKey;
  }

  /** Finds change, and so reveals spent amounts. */
  get changeKey(): bigint {
    return this.#changeKey;
  }

  /** The secret from which sender nonces are derived, 32 bytes. */
  get nonceKey(): Uint8Array {
    return expand(this.#seed, this.#purpose("nonce-key"), 32);
  }

  /**
   * A secret of an extension, such as a way to pay: the same for the same label after the wallet was restored, and
   * useless for finding any other. It belongs to this pool, as the wallet's keys do.
   * @param label the extension's name (1 to 32 lower-case letters, digits and hyphens, not ending in "-key"), alone or
   *   followed by "/" and any text; at most 1024 characters
   * @param bytes length of the secret, 16 to 64; a shorter secret of the same label begins with the same bytes
   * @throws SottoError INVALID_STRING, INVALID_INTEGER; LABEL_RESERVED for the label of one of the wallet's own keys
   */
  derive(label: string, bytes: number): Uint8Array {
    assertText(label, "label");
    assertInteger(bytes, MIN_DERIVED_BYTES, MAX_DERIVED_BYTES, "bytes");
    const [name = ""] = label.split("/", 1);
    if (label.length > MAX_LABEL_LENGTH || !EXTENSION.test(name))
      fail(
        "INVALID_STRING",
        `label must begin with a name of 1 to 32 lower-case letters, digits and hyphens, and have at most ${MAX_LABEL_LENGTH} characters, got ${describe(label)}`,
        { name: "label" },
      );
    if (isCoreKey(name))
      fail("LABEL_RESERVED", `names that end in "-key" belong to the wallet's own keys; choose another label`);
    // The deployment follows the name, so that a label cannot contain another deployment and so give its secrets.
    return expand(this.#seed, `${name}/${this.#deployment}${label.slice(name.length)}`, bytes);
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
 * @param seed 32 to 64 bytes
 * @throws SottoError INVALID_KEY, INVALID_INTEGER, INVALID_ADDRESS
 */
export function deriveKeys(seed: Uint8Array, deployment: Deployment): WalletKeys {
  return new WalletKeys(seed, deployment);
}
