import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from "jose";
import { ServiceError } from "../errors.ts";

export interface TokenKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** The public part, for the key set. */
  readonly publicJwk: JWK;
}

/** Reads the keys, oldest first. The last one signs, all verify. */
export type KeySource = () => Promise<readonly TokenKey[]>;

export const ALGORITHM = "EdDSA";

/** @throws ServiceError TOKEN_KEY_INVALID; the message contains no part of the key */
async function parseKey(value: unknown, where: string): Promise<TokenKey> {
  const jwk = (typeof value === "object" && value !== null ? value : {}) as JWK;
  const invalid = (reason: string, cause?: unknown) =>
    new ServiceError("TOKEN_KEY_INVALID", `the token key of ${where} ${reason}`, {}, { cause });
  if (jwk.kty !== "OKP" || jwk.crv !== "Ed25519" || typeof jwk.x !== "string" || typeof jwk.d !== "string")
    throw invalid("is not the JWK of an Ed25519 private key (kty OKP, crv Ed25519, x, d)");
  const publicPart = { kty: "OKP", crv: "Ed25519", x: jwk.x };
  try {
    const kid = await calculateJwkThumbprint(publicPart);
    const privateKey = (await importJWK({ ...publicPart, d: jwk.d }, ALGORITHM)) as CryptoKey;
    return { kid, privateKey, publicJwk: { ...publicPart, kid, alg: ALGORITHM, use: "sig" } };
  } catch (cause) {
    throw invalid("cannot be used", cause);
  }
}

function parseKeys(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError("TOKEN_KEY_INVALID", `the token key of ${where} is not JSON`);
  }
}

/** Parses one JWK or a JWK set, oldest first. */
export async function keysOfText(text: string, where: string): Promise<readonly TokenKey[]> {
  const value = parseKeys(text, where);
  const set = (value as { keys?: unknown } | null)?.keys;
  const keys = Array.isArray(set) ? set : [value];
  if (keys.length === 0) throw new ServiceError("TOKEN_KEY_INVALID", `the key set of ${where} is empty`);
  return Promise.all(keys.map((key) => parseKey(key, where)));
}

/** Reads the keys of a folder, `*.json`, in the order of their names. With dates as names, the newest key signs. */
export async function keysOfFolder(folder: string): Promise<readonly TokenKey[]> {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch (cause) {
    throw new ServiceError("TOKEN_KEY_INVALID", `the folder of token keys ${folder} cannot be read`, {}, { cause });
  }
  if (names.length === 0) throw new ServiceError("TOKEN_KEY_INVALID", `the folder of token keys ${folder} is empty`);
  const keys: TokenKey[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    if ((statSync(path).mode & 0o077) !== 0)
      throw new ServiceError("TOKEN_KEY_INVALID", `${path} must be readable by its owner alone (chmod 600)`);
    keys.push(...(await keysOfText(readFileSync(path, "utf8"), path)));
  }
  return keys;
}
