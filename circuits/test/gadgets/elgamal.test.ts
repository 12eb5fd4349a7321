import { BASE8, invert, montgomeryEighth, multiply, ORDER, type Point } from "@sotto/certify/check/curve";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { gadget, prepare, run } from "../kit/gadget.ts";
import { encrypt, ephemeralScalar } from "../model/encrypt.ts";
import { DOMAIN, poseidonEx } from "../model/hash.ts";
import { Random } from "../model/random.ts";
import { bitsOf } from "../model/tree.ts";

const random = new Random(5);
const elgamal = gadget("lib/elgamal.circom", "ElGamal()");
const secrets = gadget("lib/note_secrets.circom", "NoteSecrets()");

async function expectEncryption(key: Point, amount: bigint, scalar: bigint): Promise<void> {
  const { R, S, C } = encrypt(key, amount, scalar);
  const read = await run(elgamal, { recipientQ: montgomeryEighth(key), scalar, amountBits: bitsOf(amount, 64) });
  const names = ["recipientKeyX", "sharedX", "ephemeralX", "cipherX"];
  expect(names.map(read)).to.deep.equal([key.x, S.x, R.x, C.x]);
}

describe("ElGamal against the model", function () {
  slow(this, "circuits are compiled, and witnesses made");
  before(() => prepare(elgamal, secrets));

  for (const [name, viewingKey] of [
    ["1", 1n],
    ["2", 2n],
    ["l - 1", ORDER - 1n],
    ["random", random.below(ORDER)],
  ] as const)
    it(`encrypts for the viewing key ${name}`, async () => {
      const key = multiply(BASE8, viewingKey);
      for (const amount of [0n, 1n, 7n, 2n ** 64n - 1n])
        for (const scalar of [0n, 2n ** 249n - 1n, random.bits(249)]) await expectEncryption(key, amount, scalar);
    });

  it("encrypts if C is a doubling or the identity, as for a payer that pays its own key", async () => {
    const scalar = random.bits(249);
    const amount = 1_000_000n;
    const inverse = invert(ephemeralScalar(scalar) % ORDER);
    // In one case S = amount Base8, in the other S = -amount Base8.
    for (const multiple of [amount, ORDER - amount])
      await expectEncryption(multiply(BASE8, (multiple * inverse) % ORDER), amount, scalar);
  });

  it("derives the blinding and the pad from one permutation", async () => {
    const [sharedX, ephemeralX] = [random.field(), random.field()];
    const read = await run(secrets, { sharedX, ephemeralX });
    expect([read("blinding"), read("pad")]).to.deep.equal(poseidonEx([sharedX, ephemeralX], 2, DOMAIN.encryption));
  });
});
