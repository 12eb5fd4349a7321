import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes, isBytes } from "@sotto/protocol";
import { concatBytes, fail } from "@sotto/protocol/extend";

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
}

/** For every platform. */
export const PORTABLE: Ed25519 = {
  publicKey: (secret) => ed25519.getPublicKey(secret),
  sign: (message, secret) => ed25519.sign(message, secret),
  verify: (signature, message, publicKey) => ed25519.verify(signature, message, publicKey, { zip215: false }),
};

interface DerKey {
  readonly key: Uint8Array;
  readonly format: "der";
  readonly type: "pkcs8" | "spki";
}

/** The part of `node:crypto` that is used here. */
export interface NodeCrypto {
  createPrivateKey(key: DerKey): object;
  createPublicKey(key: DerKey | object): { export(options: { format: "der"; type: "spki" }): Uint8Array };
  sign(algorithm: null, message: Uint8Array, key: object): Uint8Array;
  verify(algorithm: null, message: Uint8Array, key: object, signature: Uint8Array): boolean;
}

/** DER before the 32 bytes of a secret and of a public key, RFC 8410. */
const SECRET_PREFIX = hexToBytes("0x302e020100300506032b657004220420", 16);
const PUBLIC_PREFIX = hexToBytes("0x302a300506032b6570032100", 12);

/** Ed25519 of Node, which is several times as fast: the portable one would be most of what a request costs its payer. */
export function ed25519Of({ createPrivateKey, createPublicKey, sign, verify }: NodeCrypto): Ed25519 {
  const importSecret = (secret: Uint8Array) =>
    createPrivateKey({ key: concatBytes(SECRET_PREFIX, secret), format: "der", type: "pkcs8" });
  return {
    publicKey: (secret) =>
      new Uint8Array(createPublicKey(importSecret(secret)).export({ format: "der", type: "spki" })).subarray(
        PUBLIC_PREFIX.length,
      ),
    sign: (message, secret) => new Uint8Array(sign(null, message, importSecret(secret))),
    verify(signature, message, publicKey) {
      // Not every version of OpenSSL refuses keys of small order.
      assertEd25519Key(bytesToHex(publicKey), "the key");
      const key = createPublicKey({ key: concatBytes(PUBLIC_PREFIX, publicKey), format: "der", type: "spki" });
      // OpenSSL refuses signatures with a part of small order, which the portable one accepts.
      return verify(null, message, key, signature) || PORTABLE.verify(signature, message, publicKey);
    },
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

/**
 * Verifies an Ed25519 signature strictly: encodings that are not canonical and keys of small order are refused.
 * @returns false also if the signature or the key does not decode
 */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return platform.verify(signature, message, publicKey);
  } catch {
    return false;
  }
}
