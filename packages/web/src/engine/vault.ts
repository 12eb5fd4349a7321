// Encrypts the wallet's stored secrets with a passphrase, by WebCrypto.
import { SottoError } from "@sotto/protocol";
import { WebError } from "../errors.ts";

export interface Secrets {
  /** The wallet's seed, 32 bytes as hex without 0x: the same as its 24 words. */
  readonly seed: string;
  /** Private key of the test account, 32 bytes as hex with 0x. */
  readonly account: string;
}

/** An encrypted text. All other fields are authenticated together with `data`. */
export interface Sealed {
  readonly version: 1;
  readonly kdf: "PBKDF2-SHA-256";
  readonly iterations: number;
  /** Base64, 16 bytes. */
  readonly salt: string;
  /** Base64, 12 bytes. */
  readonly nonce: string;
  /** AES-256-GCM, base64. */
  readonly data: string;
}

/** The minimum accepted, and the number used for new vaults: about half a second on a laptop. */
const MIN_ITERATIONS = 600_000;
/** A file with more iterations would keep the worker busy for minutes. */
const MAX_ITERATIONS = 10_000_000;
export const MIN_PASSPHRASE_CHARACTERS = 10;

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

async function keyOf(passphrase: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(passphrase.normalize("NFKC"));
  const material = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveKey"]);
  const parameters = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  return crypto.subtle.deriveKey(parameters, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

const headerOf = ({ version, kdf, iterations, salt, nonce }: Omit<Sealed, "data">): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(JSON.stringify([version, kdf, iterations, salt, nonce]));

/** @throws WebError PASSPHRASE_TOO_SHORT */
export async function seal(text: string, passphrase: string): Promise<Sealed> {
  if ([...passphrase].length < MIN_PASSPHRASE_CHARACTERS)
    throw new WebError(
      "PASSPHRASE_TOO_SHORT",
      `the passphrase has ${[...passphrase].length} characters, expected at least ${MIN_PASSPHRASE_CHARACTERS}`,
    );
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const header = {
    version: 1,
    kdf: "PBKDF2-SHA-256",
    iterations: MIN_ITERATIONS,
    salt: toBase64(salt),
    nonce: toBase64(nonce),
  } as const;
  const key = await keyOf(passphrase, salt, header.iterations);
  const options = { name: "AES-GCM", iv: nonce, additionalData: headerOf(header) };
  const data = await crypto.subtle.encrypt(options, key, new TextEncoder().encode(text));
  return { ...header, data: toBase64(new Uint8Array(data)) };
}

/** @throws WebError PASSPHRASE_WRONG; a changed file gives the same error, because the two cannot be distinguished */
export async function open(sealed: Sealed, passphrase: string): Promise<string> {
  const nonce = fromBase64(sealed.nonce);
  const key = await keyOf(passphrase, fromBase64(sealed.salt), sealed.iterations);
  const options = { name: "AES-GCM", iv: nonce, additionalData: headerOf(sealed) };
  try {
    const text = await crypto.subtle.decrypt(options, key, fromBase64(sealed.data));
    return new TextDecoder().decode(text);
  } catch (cause) {
    throw new WebError("PASSPHRASE_WRONG", "the passphrase does not open this wallet", {}, { cause });
  }
}

/** In groups of four characters, so that `atob` accepts it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Checks the form of a sealed text that was read from a store or a file.
 * @param damaged the code of the error
 * @throws WebError `damaged`
 */
export function parseSealed(value: unknown, damaged: "VAULT_DAMAGED" | "BACKUP_DAMAGED"): Sealed {
  const { version, kdf, iterations, salt, nonce, data } = Object(value) as Record<string, unknown>;
  const text = (part: unknown, bytes?: number): part is string =>
    typeof part === "string" &&
    part !== "" &&
    BASE64.test(part) &&
    (bytes === undefined || fromBase64(part).length === bytes);
  const counted =
    Number.isSafeInteger(iterations) && Number(iterations) >= MIN_ITERATIONS && Number(iterations) <= MAX_ITERATIONS;
  if (version === 1 && kdf === "PBKDF2-SHA-256" && counted && text(salt, 16) && text(nonce, 12) && text(data))
    return { version, kdf, iterations: Number(iterations), salt, nonce, data };
  throw new WebError(damaged, "the encrypted key is malformed");
}

const HEX_32 = /^[0-9a-f]{64}$/;

/** @throws WebError VAULT_DAMAGED */
export function parseSecrets(text: string): Secrets {
  try {
    const { seed, account } = JSON.parse(text) as Record<string, unknown>;
    if (typeof seed === "string" && HEX_32.test(seed) && typeof account === "string" && HEX_32.test(account.slice(2)))
      return { seed, account };
  } catch (error) {
    if (error instanceof SottoError) throw error;
  }
  throw new WebError("VAULT_DAMAGED", "the decrypted key is malformed");
}
