import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import { concatBytes, decodeBase64url, encodeBase64url, fail } from "@sotto/protocol/extend";

/** Size of an Ed25519 secret and of a public key, bytes. */
export const ED25519_KEY_BYTES = 32;
/** Size of an Ed25519 signature, bytes. */
export const ED25519_SIGNATURE_BYTES = 64;

/**
 * Checks a public key that another party chose: the canonical encoding of a point that is not of small order. A key of small
 * order has signatures that fit several messages.
 * @param key 32 bytes, hex with 0x
 * @throws SottoError INVALID_HEX, INVALID_KEY
 */
export function assertEd25519Key(key: unknown, name: string): string {
  const bytes = hexToBytes(key, ED25519_KEY_BYTES, name);
  let isSafe = false;
  try {
    isSafe = !ed25519.Point.fromBytes(bytes).isSmallOrder();
  } catch {
    // The bytes encode no point.
  }
  if (!isSafe) fail("INVALID_KEY", `${name} must be a public Ed25519 key`);
  return bytesToHex(bytes);
}

/** Checks an Ed25519 secret, or one from which they are derived; the error never describes it. @throws SottoError INVALID_KEY */
export function assertSecret(secret: unknown, name: string): Uint8Array {
  if (!isBytes(secret) || secret.length !== ED25519_KEY_BYTES)
    fail("INVALID_KEY", `${name} must be ${ED25519_KEY_BYTES} bytes`);
  return secret;
}

/** Ed25519 of RFC 8032. */
export interface Ed25519 {
  /** @param secret 32 bytes */
  publicKey(secret: Uint8Array): Uint8Array;
  sign(message: Uint8Array, secret: Uint8Array): Uint8Array;
  /** Throws, or returns false, if the signature or the key does not decode. */
  verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
  /** The same, but it may refuse signatures with parts of small order, which no honest signer makes. */
  verifyOwn(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean;
}

/** For every platform. */
export const PORTABLE: Ed25519 = {
  publicKey: (secret) => ed25519.getPublicKey(secret),
  sign: (message, secret) => ed25519.sign(message, secret),
  verify: (signature, message, publicKey) => ed25519.verify(signature, message, publicKey, { zip215: false }),
  verifyOwn: (...args) => PORTABLE.verify(...args),
};

/** An Ed25519 key of RFC 8037: x is the public key and d the secret, both base64url. */
interface Jwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly d?: string;
}

/** A key as Node imports it. */
type KeyInput =
  | { readonly key: Jwk; readonly format: "jwk" }
  | { readonly key: Uint8Array; readonly format: "der"; readonly type: "pkcs8" };

interface NodeKey {
  export(options: { format: "jwk" }): Jwk;
}

/** The part of `node:crypto` that is used here. */
export interface NodeCrypto {
  createPrivateKey(key: KeyInput): NodeKey;
  createPublicKey(key: KeyInput): NodeKey;
  sign(algorithm: null, message: Uint8Array, key: NodeKey): Uint8Array;
  verify(algorithm: null, message: Uint8Array, key: NodeKey, signature: Uint8Array): boolean;
}

const KEY = { kty: "OKP", crv: "Ed25519" } as const;
/** DER before the 32 bytes of a secret, RFC 8410. */
const SECRET_PREFIX = hexToBytes("0x302e020100300506032b657004220420", 16);

const fromDer = (secret: Uint8Array): KeyInput => ({
  key: concatBytes(SECRET_PREFIX, secret),
  format: "der",
  type: "pkcs8",
});
const fromJwk = (secret: Uint8Array): KeyInput => ({
  key: { ...KEY, x: "", d: encodeBase64url(secret) },
  format: "jwk",
});

/** The public key of 32 zero bytes, base64url. */
const KEY_OF_ZEROS = "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik";

/**
 * Some versions of OpenSSL need ten times as long for DER. The versions of Node that use them accept a secret without its public
 * key; later ones may refuse that.
 */
function fastestImport({ createPrivateKey }: NodeCrypto): (secret: Uint8Array) => KeyInput {
  try {
    const { x } = createPrivateKey(fromJwk(new Uint8Array(ED25519_KEY_BYTES))).export({ format: "jwk" });
    if (x === KEY_OF_ZEROS) return fromJwk;
  } catch {
    // It refuses the JWK.
  }
  return fromDer;
}

/** A point of order 8, of which all points of small order are multiples. */
const SMALL_ORDER = "0xc7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a";
const SIGN_BYTE = ED25519_KEY_BYTES - 1;

/** A key without the sign of its x, hex with 0x. */
function withoutSign(key: Uint8Array): string {
  // Not `slice`, which shares the memory of a Buffer.
  const bytes = Uint8Array.from(key);
  bytes[SIGN_BYTE]! &= 0x7f;
  return bytesToHex(bytes);
}

/** The y of all points of small order, hex with 0x. */
function smallOrderKeys(): ReadonlySet<string> {
  const point = ed25519.Point.fromHex(SMALL_ORDER.slice(2));
  const keys = new Set<string>();
  for (let each = point, i = 0; i < 8; each = each.add(point), i++) keys.add(withoutSign(each.toBytes()));
  return keys;
}

/** 2^255 - 19, big-endian hex with 0x. */
const FIELD = `0x7f${"ff".repeat(30)}ed`;

/** Ed25519 of Node, which is several times as fast: the portable one would be most of what a request costs its payer. */
export function ed25519Of(crypto: NodeCrypto): Ed25519 {
  const { createPrivateKey, createPublicKey, sign, verify } = crypto;
  const inputOf = fastestImport(crypto);
  let smallOrder: ReadonlySet<string> | undefined;
  const isSafe = (publicKey: Uint8Array): boolean => {
    smallOrder ??= smallOrderKeys();
    const y = withoutSign(publicKey);
    return !smallOrder.has(y) && bytesToHex(hexToBytes(y, ED25519_KEY_BYTES, "the key").reverse()) < FIELD;
  };
  const verifyOwn: Ed25519["verifyOwn"] = (signature, message, publicKey) => {
    // Not every version of OpenSSL refuses keys of small order and encodings of y that are not reduced.
    if (!isSafe(publicKey)) return false;
    const key = createPublicKey({ key: { ...KEY, x: encodeBase64url(publicKey) }, format: "jwk" });
    return verify(null, message, key, signature);
  };
  return {
    publicKey: (secret) =>
      decodeBase64url(createPrivateKey(inputOf(secret)).export({ format: "jwk" }).x, ED25519_KEY_BYTES, "a key"),
    sign: (message, secret) => new Uint8Array(sign(null, message, createPrivateKey(inputOf(secret)))),
    verifyOwn,
    // OpenSSL refuses signatures with a part of small order, which the portable one accepts.
    verify: (...args) => verifyOwn(...args) || PORTABLE.verify(...args),
  };
}

interface WithNode {
  readonly process?: { getBuiltinModule?(name: "node:crypto"): NodeCrypto | undefined };
}

/** Older versions of Node have no `getBuiltinModule`. */
const node = (globalThis as WithNode).process?.getBuiltinModule?.("node:crypto");
const platform = node === undefined ? PORTABLE : ed25519Of(node);

/** The public key of a secret. @param secret 32 bytes */
export const publicKeyOf = (secret: Uint8Array): Uint8Array => platform.publicKey(secret);

/** @param secret 32 bytes */
export const signEd25519 = (message: Uint8Array, secret: Uint8Array): Uint8Array => platform.sign(message, secret);

function decide(verify: Ed25519["verify"], ...args: Parameters<Ed25519["verify"]>): boolean {
  try {
    return verify(...args);
  } catch {
    return false;
  }
}

/**
 * Verifies an Ed25519 signature strictly: encodings that are not canonical and keys of small order are refused. Every platform decides
 * alike, so that everybody convicts the same merchant.
 * @returns false also if the signature or the key does not decode
 */
export const verifyEd25519 = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  decide(platform.verify, signature, message, publicKey);

/**
 * Verifies a signature that only the signer needs: as `verifyEd25519`, but it may refuse one with a part of small order, which no honest
 * signer makes. In Node, refusing a wrong signature costs a tenth.
 */
export const verifyOwnEd25519 = (signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean =>
  decide(platform.verifyOwn, signature, message, publicKey);
