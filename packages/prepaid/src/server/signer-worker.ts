// Code of a thread that signs: raw RSA over blinded messages. Every signature is checked before it leaves the thread,
// because one faulty signature of this kind can reveal the key.
import {
  constants,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { SignerAnswer, SignerOrder } from "./signer.ts";

const SIZE = 256;
const padding = constants.RSA_NO_PADDING;

/** PKCS #8, DER, by the key's id. */
const ders = new Map<string, Uint8Array>();
const pairs = new Map<string, { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>();

/** Parses a key when it first signs, so that a key that cannot be parsed fails nobody else's messages. */
function pairOf(keyId: string) {
  const known = pairs.get(keyId);
  if (known !== undefined) return known;
  const privateKey = createPrivateKey({ key: Buffer.from(ders.get(keyId)!), format: "der", type: "pkcs8" });
  const pair = { privateKey, publicKey: createPublicKey(privateKey) };
  pairs.set(keyId, pair);
  return pair;
}

function sign({ keyIds, messages }: SignerOrder["parts"][number]): Uint8Array {
  const signatures = new Uint8Array(messages.length);
  for (const [i, keyId] of keyIds.entries()) {
    const pair = pairOf(keyId);
    // Node pads shorter inputs silently; the messages are exactly 256 bytes each.
    const message = messages.subarray(i * SIZE, (i + 1) * SIZE);
    const signature = privateDecrypt({ key: pair.privateKey, padding }, message);
    const opened = publicEncrypt({ key: pair.publicKey, padding }, signature);
    if (message.length !== SIZE || signature.length !== SIZE || !opened.equals(message))
      throw new Error("a signature does not open to its message");
    signatures.set(signature, i * SIZE);
  }
  return signatures;
}

parentPort?.on("message", ({ parts, newKeys }: SignerOrder) => {
  for (const [keyId, der] of newKeys) ders.set(keyId, der);
  const answer = parts.map((part) => {
    try {
      return sign(part);
    } catch {
      // The cause could contain key material.
      return undefined;
    }
  });
  parentPort?.postMessage(answer satisfies SignerAnswer);
});
