import { constants, generateKeyPairSync, privateDecrypt } from "node:crypto";
import { deriveKeys } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { preparePack } from "../../src/client/unsigned-pack.ts";
import { PREPAID_KEY_BYTES, prepaidKey, prepaidPackLabel, preparePrepaidPack } from "../../src/index.ts";

describe("a pack of prepaid tokens", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { n = "" } = publicKey.export({ format: "jwk" });
  const key = prepaidKey(BigInt(`0x${Buffer.from(n, "base64url").toString("hex")}`));
  const secret = new Uint8Array(32).fill(7);
  const origin = "https://data.example";
  const signed = (request: Uint8Array) => {
    const messages = Array.from({ length: request.length / PREPAID_KEY_BYTES }, (_, i) =>
      request.subarray(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES),
    );
    const padding = constants.RSA_NO_PADDING;
    return new Uint8Array(
      Buffer.concat(messages.map((message) => privateDecrypt({ key: privateKey, padding }, message))),
    );
  };

  it("has the secret that packs of its origin, key and number were always bought with", () => {
    const keys = deriveKeys(
      Uint8Array.from({ length: 32 }, (_, i) => i + 1),
      { chainId: 8453n, pool: `0x${"11".repeat(20)}` },
    );
    const secretOf = (origin: string, number: number) =>
      Buffer.from(keys.derive(prepaidPackLabel(origin, `0x${"ab".repeat(32)}`, number), 32)).toString("hex");
    expect(secretOf(origin, 0)).to.equal("0c2b4ea7eb9175b547ca84f88588174b2cc03d28c0fe4e5fe792966e2b409481");
    expect(secretOf(`${origin}:8443`, 2001)).to.equal(
      "a61f13c4ab14c60de7daef9569d60285ee290b04081d950988f62339236bd84f",
    );
  });

  /** Counts the turns of the event loop until an action is done. */
  async function turnsOf<T>(action: () => Promise<T>): Promise<[T, number]> {
    let turns = 0;
    let immediate: NodeJS.Immediate | undefined;
    const count = () => {
      turns += 1;
      immediate = setImmediate(count);
    };
    count();
    try {
      return [await action(), turns];
    } finally {
      clearImmediate(immediate);
    }
  }

  for (const count of [1, 20, 50])
    it(`of ${count} is the same as without pauses, and its preparation lets the event loop continue`, async () => {
      const whole = preparePrepaidPack(secret, key, origin, count);
      const [pack, turns] = await turnsOf(() => preparePack(secret, { key, origin, count, version: 1 }));
      expect(pack.request).to.deep.equal(whole.request);
      expect(turns).to.be.above(Math.ceil(count / 20));
      const signatures = signed(pack.request);
      const [tokens, more] = await turnsOf(() => pack.finish(signatures));
      expect(tokens).to.deep.equal(whole.finish(signatures));
      expect(more).to.be.above(Math.ceil(count / 20));
    });

  it("is rejected if it has no tokens, or a signature is wrong, missing or too much", async () => {
    for (const count of [0, 1.5, Number.NaN])
      await expectRejected("INVALID_INTEGER", () => preparePack(secret, { key, origin, count, version: 1 }));
    const pack = await preparePack(secret, { key, origin, count: 30, version: 1 });
    const signatures = signed(pack.request);
    const wrong = signatures.map((byte, i) => (i === 29 * PREPAID_KEY_BYTES + 200 ? byte ^ 1 : byte));
    const longer = new Uint8Array(signatures.length + 1);
    longer.set(signatures);
    for (const response of [wrong, signatures.slice(1), longer, new Uint8Array(0)])
      await expectRejected("INVALID_SIGNATURE", () => pack.finish(response));
    expect(await pack.finish(signatures), "the control").to.have.length(30);
  });
});
