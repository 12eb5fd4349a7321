// The keys, which are not in the database, and the keys derived from them: one for each use.
import { createHmac, hkdfSync } from "node:crypto";
import { isBytes } from "@sotto/protocol";
import { RegistryError } from "../errors.ts";
import type { RegistryKey, RegistryKeys } from "./keys.ts";

/** The uses of blind values. Each use has its own key, so that values of different columns cannot be compared. */
export type BlindUse = "number" | "slot" | "code" | "once" | "quota" | "audit";

export type Work = (kind: "query" | "hmac" | "decrypt" | "encrypt") => void;

export interface MasterKey {
  readonly id: string;
  /** AES-256-GCM key around the data keys. */
  readonly wrap: Buffer;
  /** HMAC key of the heads. */
  readonly seal: Buffer;
  /** HMAC key of each head's term in the sum of all heads. */
  readonly sum: Buffer;
}

export interface IndexKey {
  readonly id: string;
  readonly uses: Readonly<Record<BlindUse, Buffer>>;
}

const USES: readonly BlindUse[] = ["number", "slot", "code", "once", "quota", "audit"];
const ID = /^[a-z0-9-]{1,16}$/;
const MAX_KEYS = 4;

const derive = (key: Uint8Array, use: string): Buffer =>
  Buffer.from(hkdfSync("sha256", key, new Uint8Array(), `sotto phone registry: ${use}`, 32));

/** HMAC-SHA-256 of a list. JSON distinguishes ["1", "23"] from ["12", "3"]. */
export const hmacOf = (key: Buffer, parts: readonly (string | number)[]): Buffer =>
  createHmac("sha256", key).update(JSON.stringify(parts)).digest();

export class KeyRing {
  readonly masters: readonly MasterKey[];
  readonly indexes: readonly IndexKey[];
  /** Fingerprints by kind and id. They only show whether another key has the same id. */
  readonly fingerprints: ReadonlyMap<string, string>;
  readonly work: Work;

  /** @throws RegistryError INVALID_KEYS */
  constructor(keys: RegistryKeys, work: Work = () => undefined) {
    assertKeys("master", keys.master);
    assertKeys("index", keys.index);
    // Equal keys would hide that one secret was copied to the wrong setting.
    const values = [...keys.master, ...keys.index].map(({ key }) => Buffer.from(key).toString("hex"));
    if (new Set(values).size !== values.length)
      throw new RegistryError("INVALID_KEYS", "the keys of a ring must all be different");
    this.masters = keys.master.map(({ id, key }) => ({
      id,
      wrap: derive(key, "wrap"),
      seal: derive(key, "seal"),
      sum: derive(key, "sum"),
    }));
    this.indexes = keys.index.map(({ id, key }) => ({
      id,
      uses: Object.fromEntries(USES.map((use) => [use, derive(key, use)])) as Record<BlindUse, Buffer>,
    }));
    this.fingerprints = new Map([
      ...keys.master.map(({ id, key }) => [`master:${id}`, derive(key, "fingerprint").toString("base64url")] as const),
      ...keys.index.map(({ id, key }) => [`index:${id}`, derive(key, "fingerprint").toString("base64url")] as const),
    ]);
    this.work = work;
  }

  /** The key for new records. */
  get master(): MasterKey {
    return this.masters[0]!;
  }

  get index(): IndexKey {
    return this.indexes[0]!;
  }

  masterOf(id: string): MasterKey | undefined {
    return this.masters.find((key) => key.id === id);
  }

  indexOf(id: string): IndexKey | undefined {
    return this.indexes.find((key) => key.id === id);
  }

  /** A keyed hash, 256 bits in base64url, which reveals nothing without the key. */
  blind(use: BlindUse, parts: readonly (string | number)[], key: IndexKey = this.index): string {
    this.work("hmac");
    return hmacOf(key.uses[use], parts).toString("base64url");
  }

  /** The keyed hashes under every key of the ring, because rows may still use older keys during a rotation. */
  blinds(use: BlindUse, parts: readonly (string | number)[]): string[] {
    return this.indexes.map((key) => this.blind(use, parts, key));
  }
}

function assertKeys(kind: string, keys: readonly RegistryKey[]): void {
  const say = (what: string) => new RegistryError("INVALID_KEYS", `the ${kind} keys: ${what}`);
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS)
    throw say(`there must be 1 to ${MAX_KEYS} keys, the current one first`);
  for (const { id, key } of keys) {
    if (typeof id !== "string" || !ID.test(id)) throw say("an id must have 1 to 16 characters of a-z, 0-9 and -");
    if (!isBytes(key) || key.length !== 32) throw say(`key ${id} must have 32 bytes`);
    if (key.every((byte) => byte === key[0])) throw say(`key ${id} is not random`);
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) throw say("duplicate key id");
}
