// The threads that sign, with real keys.
import { constants, generateKeyPairSync, publicEncrypt, randomBytes } from "node:crypto";
import { Worker } from "node:worker_threads";
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { PREPAID_KEY_BYTES } from "../../src/index.ts";
import { Signer } from "../../src/server/signer.ts";

const keyOf = (id: string) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { id, publicKey, privateKey: privateKey.export({ format: "der", type: "pkcs8" }) };
};
const KEYS = ["a", "b", "c"].map(keyOf);

/** Random messages below every modulus, each for one of the keys. */
function messagesFor(count: number) {
  const messages = new Uint8Array(randomBytes(count * PREPAID_KEY_BYTES));
  for (let i = 0; i < count; i++) messages[i * PREPAID_KEY_BYTES]! &= 0x7f;
  return { keys: Array.from({ length: count }, (_, i) => KEYS[(i * i) % KEYS.length]!), messages };
}

/** The messages to which signatures open. */
const opened = (keys: readonly { readonly publicKey: (typeof KEYS)[number]["publicKey"] }[], signatures: Uint8Array) =>
  new Uint8Array(
    Buffer.concat(
      keys.map(({ publicKey: key }, i) =>
        publicEncrypt(
          { key, padding: constants.RSA_NO_PADDING },
          signatures.subarray(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES),
        ),
      ),
    ),
  );

describe("the threads that sign", () => {
  let signer: Signer;
  beforeEach(() => {
    signer = new Signer(2);
  });
  afterEach(() => signer.close());

  it("sign each message with the key at its place, of few messages and of many", async () => {
    for (const count of [1, 5, 120]) {
      const { keys, messages } = messagesFor(count);
      expect(opened(keys, await signer.sign(keys, messages))).to.deep.equal(messages);
    }
  });

  it("receive what waits in one order, and answer each call for itself", async () => {
    const { postMessage } = Worker.prototype;
    let orders = 0;
    Worker.prototype.postMessage = function (...parts) {
      orders += 1;
      return postMessage.apply(this, parts);
    };
    try {
      const calls = Array.from({ length: 12 }, (_, i) => messagesFor(1 + (i % 4)));
      const answers = calls.map(({ keys, messages }) => signer.sign(keys, messages));
      for (const [i, { keys, messages }] of calls.entries())
        expect(opened(keys, await answers[i]!)).to.deep.equal(messages);
      // Two that start the threads, and one for what waits until the first of them is done.
      expect(orders).to.equal(3);
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
  });

  it("fail only the call whose key cannot be parsed, also if other keys arrive with it", async () => {
    const single = new Signer(1);
    try {
      const [a, ...others] = KEYS;
      // The thread signs this first, so that the calls after it share one order.
      const first = single.sign([a!], messagesFor(1).messages);
      const wrong = single.sign([{ ...a!, id: "d", privateKey: Buffer.from("no key") }], messagesFor(1).messages);
      const calls = others.map((key) => ({ keys: [key], messages: messagesFor(1).messages }));
      const answers = calls.map(({ keys, messages }) => single.sign(keys, messages));
      await first;
      await expectRejected("SIGNER_FAILED", () => wrong);
      for (const [i, { keys, messages }] of calls.entries())
        expect(opened(keys, await answers[i]!)).to.deep.equal(messages);
    } finally {
      await single.close();
    }
  });

  it("refuse a partial message and a key without its secret", async () => {
    const { keys, messages } = messagesFor(2);
    const refused = async (...call: Parameters<Signer["sign"]>) =>
      signer.sign(...call).then(
        () => "signed",
        (error: unknown) => (error as Error).name,
      );
    expect(await refused(keys, messages.subarray(1))).to.equal("TypeError");
    expect(await refused(keys.slice(1), messages)).to.equal("TypeError");
    expect(await refused([keys[0]!, { id: "e", privateKey: undefined }], messages)).to.equal("TypeError");
  });
});
