// The platform's Ed25519 must decide as the portable one, which payers use.
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { verifyEd25519 } from "../../src/core/ed25519.ts";
import { signMessage, verifySignature } from "../../src/server/ed25519.ts";

const SECRET = new Uint8Array(32).fill(7);
const MESSAGE = new TextEncoder().encode("a claim");
const KEY = ed25519.getPublicKey(SECRET);

/** Little-endian bytes. */
const bytes = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
const P = 2n ** 255n - 19n;

describe("the server's Ed25519", () => {
  it("signs the bytes that the portable one signs, and accepts them", () => {
    const signature = signMessage(MESSAGE, SECRET);
    expect(signature).to.deep.equal(ed25519.sign(MESSAGE, SECRET));
    for (const verify of [verifySignature, verifyEd25519]) {
      expect(verify(signature, MESSAGE, KEY)).to.equal(true);
      expect(verify(signature, MESSAGE.slice(1), KEY)).to.equal(false);
    }
  });

  it("refuses what the portable one refuses: small order, other encodings, and s that is not reduced", () => {
    // With s = 5 and R = 5 B, this signature fits every message if the key is the neutral element.
    const forged = Uint8Array.from([...ed25519.Point.BASE.multiply(5n).toBytes(), ...bytes(5n)]);
    const signature = ed25519.sign(MESSAGE, SECRET);
    const s = signature.slice(32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const unreduced = Uint8Array.from([...signature.slice(0, 32), ...bytes(s + ed25519.Point.Fn.ORDER)]);
    for (const verify of [verifySignature, verifyEd25519]) {
      for (const neutral of [bytes(1n), bytes(P + 1n)]) expect(verify(forged, MESSAGE, neutral)).to.equal(false);
      expect(verify(unreduced, MESSAGE, KEY)).to.equal(false);
      expect(verify(signature.slice(1), MESSAGE, KEY)).to.equal(false);
      expect(verify(signature, MESSAGE, KEY.slice(1))).to.equal(false);
    }
  });
});
