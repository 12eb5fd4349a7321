// Code of a thread that signs: raw RSA over blinded messages. Every signature is checked before it leaves the thread,
// because one faulty signature of this kind can reveal the key.
import { constants, createPrivateKey, createPublicKey, privateDecrypt, publicEncrypt } from "node:crypto";
import { parentPort } from "node:worker_threads";
import type { SignerAnswer, SignerOrder } from "./signer.ts";

const SIZE = 256;
const padding = constants.RSA_NO_PADDING;

const keys = new Map<string, ReturnType<typeof pairOf>>();
function pairOf(der: Uint8Array) {
  const key = createPrivateKey({ key: Buffer.from(der), format: "der", type: "pkcs8" });
  return { privateKey: key, publicKey: createPublicKey(key) };
}

function sign({ keyId, privateKey: der, messages }: SignerOrder): Uint8Array {
  const pair = keys.get(keyId) ?? pairOf(der);
  keys.set(keyId, pair);
  const signatures = new Uint8Array(messages.length);
  for (let i = 0; i < messages.length; i += SIZE) {
    // Node pads shorter inputs silently; the messages are exactly 256 bytes each.
    const message = messages.subarray(i, i + SIZE);
    const signature = privateDecrypt({ key: pair.privateKey, padding }, message);
    const opened = publicEncrypt({ key: pair.publicKey, padding }, signature);
    if (message.length !== SIZE || signature.length !== SIZE || !opened.equals(message))
      throw new Error("a signature does not open to its message");
    signatures.set(signature, i);
  }
  return signatures;
}

parentPort?.on("message", (order: SignerOrder) => {
  let answer: SignerAnswer;
  try {
    answer = { id: order.id, signatures: sign(order) };
  } catch {
    // The cause could contain key material.
    answer = { id: order.id };
  }
  parentPort?.postMessage(answer);
});
