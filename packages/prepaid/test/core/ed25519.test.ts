// Node's Ed25519 must decide as the portable one, which browsers use.
import * as crypto from "node:crypto";
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import {
  type Ed25519,
  ed25519Of,
  type NodeCrypto,
  PORTABLE,
  verifyEd25519,
  verifyOwnEd25519,
} from "../../src/core/ed25519.ts";

const NODE_CRYPTO = crypto as unknown as NodeCrypto;
const NODE = ed25519Of(NODE_CRYPTO);
const SECRET = new Uint8Array(32).fill(7);
/** Counts an exception as a refusal. */
const refusing =
  ({ verify }: Ed25519): Ed25519["verify"] =>
  (...args) => {
    try {
      return verify(...args);
    } catch {
      return false;
    }
  };
const VERIFIERS = [refusing(NODE), refusing(PORTABLE), verifyEd25519];
/** Those that need not accept parts of small order. */
const OWN_VERIFIERS = [...VERIFIERS, verifyOwnEd25519];
const MESSAGE = new TextEncoder().encode("a claim");
const KEY = ed25519.getPublicKey(SECRET);

/** Little-endian bytes. */
const bytes = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
const P = 2n ** 255n - 19n;

describe("Ed25519", () => {
  it("of Node signs the bytes that the portable one signs, and accepts them", () => {
    const signature = NODE.sign(MESSAGE, SECRET);
    expect(signature).to.deep.equal(PORTABLE.sign(MESSAGE, SECRET));
    expect(NODE.publicKey(SECRET)).to.deep.equal(PORTABLE.publicKey(SECRET));
    for (const verify of OWN_VERIFIERS) {
      expect(verify(signature, MESSAGE, KEY)).to.equal(true);
      expect(verify(signature, MESSAGE.slice(1), KEY)).to.equal(false);
    }
  });

  it("of Node imports secrets as DER where a JWK without its public key is refused, or gives another key", () => {
    const { createPrivateKey } = NODE_CRYPTO;
    const imported: string[] = [];
    const withJwk = (publicKeyOf: (secret: Uint8Array) => Uint8Array) =>
      ed25519Of({
        ...NODE_CRYPTO,
        createPrivateKey(input) {
          imported.push(input.format);
          if (input.format === "der") return createPrivateKey(input);
          const x = Buffer.from(publicKeyOf(Buffer.from(input.key.d!, "base64url"))).toString("base64url");
          return { export: () => ({ kty: "OKP", crv: "Ed25519", x }) };
        },
      });
    const refusing = withJwk(() => {
      throw new Error("Invalid JWK OKP key");
    });
    const ignoring = withJwk(() => new Uint8Array());
    for (const each of [refusing, ignoring]) {
      expect(each.publicKey(SECRET)).to.deep.equal(KEY);
      expect(each.sign(MESSAGE, SECRET)).to.deep.equal(PORTABLE.sign(MESSAGE, SECRET));
    }
    expect(imported).to.deep.equal(["jwk", "jwk", "der", "der", "der", "der"]);
    const accepting = withJwk(PORTABLE.publicKey);
    expect(accepting.publicKey(SECRET)).to.deep.equal(KEY);
    expect(imported.slice(6)).to.deep.equal(["jwk", "jwk"]);
  });

  it("leaves a key as it is, also a Buffer", () => {
    for (let i = 0; i < 8; i++) {
      const secret = new Uint8Array(32).fill(i);
      const key = Buffer.from(PORTABLE.publicKey(secret));
      expect(NODE.verify(PORTABLE.sign(MESSAGE, secret), MESSAGE, key)).to.equal(true);
      expect(new Uint8Array(key)).to.deep.equal(PORTABLE.publicKey(secret));
    }
  });

  it("of Node refuses what the portable one refuses: small order, other encodings, and s that is not reduced", () => {
    // With s = 5 and R = 5 B, this signature fits every message if the key is the neutral element.
    const forged = Uint8Array.from([...ed25519.Point.BASE.multiply(5n).toBytes(), ...bytes(5n)]);
    const signature = ed25519.sign(MESSAGE, SECRET);
    const s = signature.slice(32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const unreduced = Uint8Array.from([...signature.slice(0, 32), ...bytes(s + ed25519.Point.Fn.ORDER)]);
    for (const verify of OWN_VERIFIERS) {
      for (const neutral of [bytes(1n), bytes(P + 1n)]) expect(verify(forged, MESSAGE, neutral)).to.equal(false);
      expect(verify(unreduced, MESSAGE, KEY)).to.equal(false);
      expect(verify(signature.slice(1), MESSAGE, KEY)).to.equal(false);
      expect(verify(signature, MESSAGE, KEY.slice(1))).to.equal(false);
    }
  });

  it("of Node refuses all eight keys of small order, with both signs", () => {
    const { Point } = ed25519;
    const start = Point.BASE.multiply(5n).toBytes();
    const forged = Uint8Array.from([...start, ...bytes(5n)]);
    const point = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
    const keys = new Set<string>();
    for (let each = point, i = 0; i < 8; each = each.add(point), i++)
      for (const sign of [0, 0x80]) {
        const key = each.toBytes();
        key[31]! ^= sign;
        keys.add(Buffer.from(key).toString("hex"));
      }
    expect(keys.size).to.equal(8 + 2);
    for (const key of keys)
      for (let i = 0; i < 32; i++)
        for (const verify of OWN_VERIFIERS)
          expect(verify(forged, Uint8Array.of(i), Uint8Array.from(Buffer.from(key, "hex"))), key).to.equal(false);
  });

  it("of Node accepts what the portable one accepts: parts of small order, which the equation with a cofactor ignores", () => {
    const { Point } = ed25519;
    const low = Point.fromBytes(bytes(0n));
    expect(low.multiplyUnsafe(4n).equals(Point.ZERO)).to.equal(true);
    const { scalar } = ed25519.utils.getExtendedPublicKey(SECRET);
    const nonce = 12_345n;
    for (const [point, publicKey] of [
      [Point.BASE.multiply(nonce).add(low), KEY],
      [Point.BASE.multiply(nonce), Point.fromBytes(KEY).add(low).toBytes()],
    ] as const) {
      const start = point.toBytes();
      const hash = createHash("sha512").update(start).update(publicKey).update(MESSAGE).digest();
      const challenge = Point.Fn.create(BigInt(`0x${Buffer.from(hash.reverse()).toString("hex")}`));
      const signature = Uint8Array.from([...start, ...bytes(Point.Fn.create(nonce + challenge * scalar))]);
      for (const verify of VERIFIERS) {
        expect(verify(signature, MESSAGE, publicKey)).to.equal(true);
        expect(verify(signature, MESSAGE.slice(1), publicKey)).to.equal(false);
      }
    }
  });
});
