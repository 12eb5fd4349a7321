import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { isCacheKey, type Store, type StoreChange, type StoredRecord, type StoreValue } from "@sotto/wallet";
import { CliError } from "../frame/errors.ts";

/** The key, the config, and the store's records that the key and the chain cannot restore. */
export interface Backup {
  words: string;
  config: Readonly<Record<string, unknown>>;
  records: { key: string; value: StoreValue }[];
}

/** Whether a scan of the chain restores the record. */
const isFromChain = (key: string): boolean => isCacheKey(key) || key.startsWith("scan/");

/** The other records: journal, purchases, the day's spending, pinned recipients, refunds, and the store's owner. */
export async function recordsOf(store: Store): Promise<Backup["records"]> {
  const records: StoredRecord[] = await store.list("");
  return records.filter(({ key }) => !isFromChain(key)).map(({ key, value }) => ({ key, value }));
}

const textOf = (records: Backup["records"]): string =>
  JSON.stringify(records.map(({ key, value }) => [key, value]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));

/** Fills an empty store in one batch. A store that already has exactly these records is left unchanged. */
export async function fillStore(store: Store, records: Backup["records"]): Promise<void> {
  if ((await store.list("")).length > 0) {
    if (textOf(await recordsOf(store)) === textOf(records)) return;
    throw new CliError("WALLET_EXISTS", "the wallet's store is not empty");
  }
  const changes: StoreChange[] = records.map(({ key, value }) => ({ put: key, value, expected: 0 }));
  await store.batch(changes);
}

/** scrypt with 128 MiB of memory: one guess takes a few tenths of a second. */
const KDF = { N: 2 ** 17, r: 8, p: 1 } as const;
const MEMORY = 256 * 1024 * 1024;
const TYPE = "sotto-backup";
/** Maximum size of an unpacked backup, in bytes. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

const derive = (passphrase: string, salt: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase, salt, 32, { ...KDF, maxmem: MEMORY }, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** The additional authenticated data, so that no part of the header can be changed. */
const header = (salt: string, nonce: string): Buffer =>
  Buffer.from(JSON.stringify([TYPE, 1, "scrypt", KDF.N, KDF.r, KDF.p, salt, "aes-256-gcm", nonce]));

/** @returns the text of a backup file */
export async function seal(backup: Backup, passphrase: string): Promise<string> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)];
  const [saltText, nonceText] = [salt.toString("base64"), nonce.toString("base64")];
  const cipher = createCipheriv("aes-256-gcm", await derive(passphrase, salt), nonce);
  cipher.setAAD(header(saltText, nonceText));
  const packed = await promisify(gzip)(JSON.stringify(backup));
  const sealed = Buffer.concat([cipher.update(packed), cipher.final(), cipher.getAuthTag()]);
  return `${JSON.stringify({
    type: TYPE,
    version: 1,
    kdf: { name: "scrypt", ...KDF, salt: saltText },
    cipher: { name: "aes-256-gcm", nonce: nonceText },
    data: sealed.toString("base64"),
  })}\n`;
}

/** @throws CliError BACKUP_INVALID; a wrong passphrase cannot be distinguished from a modified file */
export async function unseal(value: unknown, passphrase: string): Promise<Backup> {
  const { type, version, kdf, cipher, data } = Object(value) as Record<string, unknown>;
  const { name: kdfName, salt, ...cost } = Object(kdf) as Record<string, unknown>;
  const { name: cipherName, nonce } = Object(cipher) as Record<string, unknown>;
  const known =
    type === TYPE &&
    version === 1 &&
    kdfName === "scrypt" &&
    cipherName === "aes-256-gcm" &&
    // Accept only this cost; otherwise a file could choose how much memory is used.
    (Object.keys(KDF) as (keyof typeof KDF)[]).every((name) => cost[name] === KDF[name]);
  if (!known || typeof salt !== "string" || typeof nonce !== "string" || typeof data !== "string")
    throw new CliError("BACKUP_INVALID", "the file is not a backup of `sotto export` in version 1");
  const sealed = Buffer.from(data, "base64");
  const [saltBytes, nonceBytes] = [Buffer.from(salt, "base64"), Buffer.from(nonce, "base64")];
  if (saltBytes.length !== 16 || nonceBytes.length !== 12 || sealed.length < 17)
    throw new CliError("BACKUP_INVALID", "the backup is incomplete");
  try {
    const decipher = createDecipheriv("aes-256-gcm", await derive(passphrase, saltBytes), nonceBytes);
    decipher.setAAD(header(salt, nonce));
    decipher.setAuthTag(sealed.subarray(-16));
    const packed = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    const text = await promisify(gunzip)(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
    return JSON.parse(text.toString("utf8")) as Backup;
  } catch (cause) {
    throw new CliError("BACKUP_INVALID", "the passphrase is wrong, or the file was changed", {}, { cause });
  }
}
