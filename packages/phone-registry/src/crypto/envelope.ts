// Encrypted records: AES-256-GCM under a random data key, which is wrapped by a master key. The associated data contain table,
// row and version, so that a ciphertext can be decrypted only in the row for which it was written.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { RegistryError } from "../errors.ts";
import type { KeyRing, MasterKey } from "./key-ring.ts";

/** The row of a record, with everything that the row contains about the record in plain text. */
export interface Place {
  readonly table: string;
  readonly id: string;
  readonly version: number;
  readonly verified: boolean;
}

const NONCE = 12;
const TAG = 16;
/** Plaintexts are padded to a multiple of this, so that the length does not reveal the kind of wallet. */
const BLOCK = 1024;

const context = (part: "key" | "record", place: Place): Buffer =>
  Buffer.from(JSON.stringify(["sotto phone registry", 1, part, place.table, place.id, place.version, place.verified]));

const textContext = (context: readonly string[]): Buffer =>
  Buffer.from(JSON.stringify(["sotto phone registry", 1, "text", ...context]));

// Nonces are random: a data key encrypts once, a master key wraps far fewer than the 2^32 that NIST SP 800-38D allows.
function encrypt(ring: KeyRing, key: Buffer, plaintext: Buffer, associated: Buffer): string {
  ring.work("encrypt");
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(associated);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

function decrypt(ring: KeyRing, key: Buffer, text: string, associated: Buffer): Buffer {
  ring.work("decrypt");
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < NONCE + TAG) throw new Error("too short");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(associated).setAuthTag(bytes.subarray(bytes.length - TAG));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
}

const tampered = (cause?: unknown) =>
  new RegistryError("RECORD_TAMPERED", "a record is not what the registry wrote in its row", {}, { cause });

/** Finds a master key. @throws RegistryError KEY_MISSING if it was removed from the ring too early */
function masterOf(ring: KeyRing, id: string): MasterKey {
  const key = ring.masterOf(id);
  if (key === undefined)
    throw new RegistryError("KEY_MISSING", "a record's master key is not in the ring", { keys: id });
  return key;
}

/** @returns the wrapped data key and the encrypted record; store them with the id of the current master key */
export function sealRecord(ring: KeyRing, place: Place, value: object): string {
  const dataKey = randomBytes(32);
  const json = JSON.stringify(value);
  const length = Math.ceil(Buffer.byteLength(json) / BLOCK) * BLOCK;
  const plaintext = Buffer.alloc(length, " ");
  plaintext.write(json);
  const wrapped = encrypt(ring, ring.master.wrap, dataKey, context("key", place));
  return `${wrapped}.${encrypt(ring, dataKey, plaintext, context("record", place))}`;
}

/** @throws RegistryError RECORD_TAMPERED, KEY_MISSING */
export function openRecord(ring: KeyRing, place: Place, masterId: string, envelope: string): unknown {
  const master = masterOf(ring, masterId);
  const [wrapped = "", record = ""] = envelope.split(".");
  try {
    const dataKey = decrypt(ring, master.wrap, wrapped, context("key", place));
    return JSON.parse(decrypt(ring, dataKey, record, context("record", place)).toString("utf8"));
  } catch (cause) {
    throw tampered(cause);
  }
}

/** Encrypts a short text under the current master key. @param context the purpose, part of the associated data */
export const sealText = (ring: KeyRing, context: readonly string[], text: string): string =>
  encrypt(ring, ring.master.wrap, Buffer.from(text), textContext(context));

/** @throws RegistryError RECORD_TAMPERED, KEY_MISSING */
export function openText(ring: KeyRing, context: readonly string[], masterId: string, envelope: string): string {
  const master = masterOf(ring, masterId);
  try {
    return decrypt(ring, master.wrap, envelope, textContext(context)).toString("utf8");
  } catch (cause) {
    throw tampered(cause);
  }
}

/** Wraps a record's data key with the current master key. @throws RegistryError RECORD_TAMPERED, KEY_MISSING */
export function rewrap(ring: KeyRing, place: Place, masterId: string, envelope: string): string {
  const master = masterOf(ring, masterId);
  const [wrapped = "", record = ""] = envelope.split(".");
  try {
    const dataKey = decrypt(ring, master.wrap, wrapped, context("key", place));
    return `${encrypt(ring, ring.master.wrap, dataKey, context("key", place))}.${record}`;
  } catch (cause) {
    throw tampered(cause);
  }
}
