// The keys of the signed schedules, and the private keys of this server.

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { invalidOption } from "@sotto/resource-server";
import {
  encodePrepaidKey,
  epochOf,
  laterEpoch,
  PREPAID_KEY_BYTES,
  type PrepaidKeyFile,
  type PrepaidSchedule,
  prepaidKey,
  redemptionOf,
  scheduledKeys,
  signsAt,
} from "../index.ts";

/** A scheduled key. */
export interface Key {
  /** Hex with 0x. */
  readonly id: string;
  /** Base units. */
  readonly value: bigint;
  readonly epoch: string;
  /** When its tokens are accepted, ms: from, and until right before. */
  readonly redeemed: readonly [from: number, until: number];
  /** Of the type rsa-pss: it verifies RSASSA-PSS with SHA-384, MGF1 with SHA-384 and a salt of 48 bytes, and nothing else. */
  readonly publicKey: KeyObject;
  /** The modulus, 256 bytes, big-endian. */
  readonly modulus: Buffer;
  /** PKCS #8, DER. Undefined if this server does not sign with it. */
  readonly privateKey: Buffer | undefined;
}

/** Reads a private key. Errors never contain any part of it. */
function parsePrivateKey(pem: unknown, where: string): { readonly id: string; readonly der: Buffer } {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(String(pem));
  } catch {
    // The message could quote the key.
  }
  // A key of the type rsa-pss refuses raw operations.
  if (key?.asymmetricKeyType !== "rsa" || key.asymmetricKeyDetails?.publicExponent !== 65537n)
    throw invalidOption(`${where} is not a private RSA key (PKCS #8 PEM, rsaEncryption, exponent 65537)`);
  const { n = "" } = createPublicKey(key).export({ format: "jwk" });
  try {
    const { id } = prepaidKey(BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`));
    return { id, der: key.export({ format: "der", type: "pkcs8" }) };
  } catch (cause) {
    throw invalidOption(`${where} does not have exactly 2048 bits`, cause);
  }
}

export class Keyring {
  readonly #byId = new Map<string, Key>();
  readonly #closed = new Set<string>();

  /**
   * @param schedules all of this origin and wallet
   * @throws PaywallError INVALID_OPTION if two schedules disagree, or a private key is in none of them
   */
  constructor(schedules: readonly PrepaidSchedule[], file: PrepaidKeyFile | undefined) {
    const slots = new Map<string, string>();
    for (const { epoch, value, key } of schedules.flatMap(scheduledKeys)) {
      const slot = `${value} base units in ${epoch}`;
      const other = slots.get(slot);
      if (other !== undefined && other !== key.id)
        throw invalidOption(`prepaid.schedules name two keys for ${slot}: ${other} and ${key.id}; only one may exist`);
      const before = this.#byId.get(key.id);
      if (before !== undefined && other === undefined)
        throw invalidOption(
          `prepaid.schedules use the key ${key.id} for ${slot} and for ${before.value} in ${before.epoch}`,
        );
      slots.set(slot, key.id);
      const spki = Buffer.from(encodePrepaidKey(key.modulus));
      const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
      const modulus = Buffer.from(key.modulus.toString(16).padStart(2 * PREPAID_KEY_BYTES, "0"), "hex");
      const redeemed = redemptionOf(epoch);
      this.#byId.set(key.id, { id: key.id, value, epoch, redeemed, publicKey, modulus, privateKey: undefined });
    }
    for (const [i, { epoch, value, privateKey }] of (file?.keys ?? []).entries())
      this.#add(i, epoch, value, privateKey);
  }

  #add(i: number, epoch: string, value: bigint, pem: string): void {
    const where = `prepaid.keys: key ${i + 1}`;
    const { id, der } = parsePrivateKey(pem, where);
    const key = this.#byId.get(id);
    if (key === undefined) throw invalidOption(`${where} (${id}) is in none of prepaid.schedules`);
    if (key.epoch !== epoch || key.value !== value)
      throw invalidOption(
        `${where} is for ${value} base units in ${epoch}, but scheduled for ${key.value} in ${key.epoch}`,
      );
    this.#byId.set(id, { ...key, privateKey: der });
  }

  get all(): readonly Key[] {
    return [...this.#byId.values()];
  }

  find(id: string): Key | undefined {
    return this.#byId.get(id);
  }

  /** Whether tokens of the key are accepted at `now` (ms). */
  redeems(key: Key, now: number): boolean {
    const [from, until] = key.redeemed;
    return from <= now && now < until && !this.#closed.has(key.id);
  }

  /** Whether tokens of the key are sold at `now` (ms). */
  signs(key: Key, now: number): boolean {
    return signsAt(key.epoch, now) && !this.#closed.has(key.id);
  }

  /** The key that signs tokens of this value at `now` (ms). */
  offered(value: bigint, now: number): Key | undefined {
    return this.all.find((key) => key.value === value && this.signs(key, now));
  }

  /** The key for this value and month. */
  at(value: bigint, epoch: string): Key | undefined {
    return this.all.find((key) => key.value === value && key.epoch === epoch);
  }

  /** Records that these keys are closed for good. */
  close(ids: Iterable<string>): void {
    for (const id of ids) this.#closed.add(id);
  }

  isClosed(id: string): boolean {
    return this.#closed.has(id);
  }

  /** The keys whose tokens are no longer accepted at `now` (ms). */
  endedAt(now: number): readonly Key[] {
    const previous = laterEpoch(epochOf(now), -1);
    return this.all.filter(({ epoch }) => epoch < previous);
  }

  /** The keys that may have signed by `now` (ms). */
  startedBy(now: number): readonly Key[] {
    const current = epochOf(now);
    return this.all.filter(({ epoch }) => epoch <= current);
  }

  /** The keys of the epochs before this one. */
  before(epoch: string): readonly Key[] {
    return this.all.filter((key) => key.epoch < epoch);
  }
}
