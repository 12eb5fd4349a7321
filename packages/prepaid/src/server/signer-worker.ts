// Code of a thread that signs: raw RSA over blinded messages. Every signature is checked before it leaves the thread,
// because one faulty signature of this kind can reveal the key.
import { constants, createPrivateKey, createPublicKey, privateDecrypt, publicEncrypt } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { SignerAnswer, SignerOrder } from "./signer.ts";

const SIZE = 256;
const padding = constants.RSA_NO_PADDING;

const pairs = new Map<string, ReturnType<typeof pairOf>>();
function pairOf(der: Uint8Array) {
  const key = createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
  return { privateKey: key, publicKey: createPublicKey(key) };
}

function sign({ keyIds, messages }: SignerOrder["parts"][number]): Uint8Array {
  const signatures = new Uint8Array(messages.length);
  for (const [i, keyId] of keyIds.entries()) {
    const pair = pairs.get(keyId)!;
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
  const answer = parts.map((part) => {
    try {
      for (const [keyId, der] of newKeys) if (!pairs.has(keyId)) pairs.set(keyId, pairOf(der));
      return sign(part);
    } catch {
      // The cause could contain key material.
      return undefined;
    }
  });
  parentPort?.postMessage(answer satisfies SignerAnswer);
});
