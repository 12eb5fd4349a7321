import { createHash, createPrivateKey, createPublicKey, verify } from "node:crypto";
import { bytesToHex, hexToBytes } from "@sotto/protocol";
import { foreign, NOT_BYTES } from "@sotto/test-kit/realm";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  type ChangeClaim,
  changeClaimMessage,
  nonceOfTokenSecret,
  preparePrepaidPack,
  signChangeClaim,
  tokenIdHash,
  tokenSecretOf,
  verifyChangeClaim,
} from "../../../src/index.ts";
import { createSigner } from "../support/signer.ts";
import { VECTORS } from "./support/samples.ts";

const { packSecret, each: known } = VECTORS.tokens;
const PACK = hexToBytes(packSecret, 32);
const { origin, keyId, tokenIndex } = VECTORS.claims;
const secret = tokenSecretOf(PACK, tokenIndex);
const token = { keyId, nonce: nonceOfTokenSecret(secret) };
const batch = `0x${"cd".repeat(32)}`;
const claim: ChangeClaim = { origin, token, batch };

/** Node's own key of an Ed25519 secret. */
const nodeKey = (seed: Uint8Array) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]),
    format: "der",
    type: "pkcs8",
  });

describe("the key of a token", () => {
  it("is derived from the pack's secret as another implementation derives it", () => {
    expect(known.map(({ index }) => index)).to.deep.equal([0, 1, 999]);
    for (const { index, secret: expected, nonce, publicKey } of known) {
      const derived = tokenSecretOf(PACK, index);
      expect(bytesToHex(derived)).to.equal(expected);
      expect(nonceOfTokenSecret(derived)).to.equal(nonce);
      const spki = createPublicKey(nodeKey(derived)).export({ format: "der", type: "spki" });
      expect(`0x${spki.subarray(12).toString("hex")}`).to.equal(publicKey);
      expect(`0x${createHash("sha256").update(spki.subarray(12)).digest("hex")}`).to.equal(nonce);
    }
  });

  it("is hashed to the nonce of each token of a pack of version 2", () => {
    const signer = createSigner();
    const pack = preparePrepaidPack(PACK, signer.key, origin, 3, 0, 2);
    const tokens = pack.finish(signer.sign(pack.request));
    expect(tokens.map(({ nonce }) => nonce)).to.deep.equal(
      [0, 1, 2].map((index) => nonceOfTokenSecret(tokenSecretOf(PACK, index))),
    );
    const part = preparePrepaidPack(PACK, signer.key, origin, 1, 2, 2);
    expect(part.finish(signer.sign(part.request))).to.deep.equal(tokens.slice(2));
  });

  it("leaves packs of version 1 as they were, and shares nothing with them", () => {
    const signer = createSigner();
    const before = preparePrepaidPack(PACK, signer.key, origin, 2);
    expect(preparePrepaidPack(PACK, signer.key, origin, 2, 0, 1).request).to.deep.equal(before.request);
    const [first] = before.finish(signer.sign(before.request));
    // HKDF-Expand of RFC 5869 for the first pack of every wallet of before.
    expect(first!.nonce).to.equal("0x19527b663145d15580a943ab68ca95e875c2dd7f00ff811f31c96ed2c5ce0f4f");
    const after = preparePrepaidPack(PACK, signer.key, origin, 2, 0, 2);
    expect(after.request).to.not.deep.equal(before.request);
    const nonces = [before, after].flatMap((pack) => pack.finish(signer.sign(pack.request)).map(({ nonce }) => nonce));
    expect(new Set(nonces).size).to.equal(4);
    for (const version of [0, 3, "2", null])
      expectCode("INVALID_INTEGER", () => preparePrepaidPack(PACK, signer.key, origin, 1, 0, version as never));
  });

  it("needs secrets of 32 bytes, of any realm, and an index of a pack; no error shows a secret", () => {
    expect(tokenSecretOf(foreign(PACK), 1)).to.deep.equal(secret);
    expect(nonceOfTokenSecret(foreign(secret))).to.equal(token.nonce);
    for (const other of [...NOT_BYTES, new Uint8Array(31), new Uint8Array(33)]) {
      expectCode("INVALID_KEY", () => tokenSecretOf(other as Uint8Array, 0), /^the secret of a pack must be 32 bytes$/);
      expectCode(
        "INVALID_KEY",
        () => nonceOfTokenSecret(other as Uint8Array),
        /^the secret of a token must be 32 bytes$/,
      );
    }
    for (const index of [-1, 1000, 0.5, Number.NaN, "1"])
      expectCode("INVALID_INTEGER", () => tokenSecretOf(PACK, index as number));
  });
});

describe("a claim of change", () => {
  it("has the bytes and the signature that another implementation makes", () => {
    expect(tokenIdHash(token)).to.equal(VECTORS.claims.tokenIdHash);
    for (const { batch: of, message, signature } of VECTORS.claims.each) {
      const same = { origin, token, ...(of === null ? {} : { batch: of }) };
      expect(bytesToHex(changeClaimMessage(same))).to.equal(message);
      const proof = signChangeClaim(same, secret);
      expect(proof).to.deep.equal({ publicKey: known[tokenIndex]!.publicKey, signature });
      expect(verifyChangeClaim(same, proof)).to.equal(true);
      const key = createPublicKey(nodeKey(secret));
      const bytes = (hex: string) => Buffer.from(hex.slice(2), "hex");
      expect(verify(null, bytes(message), key, bytes(signature))).to.equal(true);
    }
  });

  it("is not accepted with any other field than the signed ones", () => {
    const proof = signChangeClaim(claim, secret);
    const other = `0x${"ce".repeat(32)}`;
    const changes: Partial<ChangeClaim>[] = [
      { origin: "https://other.example" },
      { origin: "http://data.example" },
      { origin: "https://data.example:444" },
      { token: { ...token, keyId: other } },
      { token: { ...token, nonce: other } },
      { batch: other },
      { batch: undefined },
    ];
    for (const change of changes)
      expect(verifyChangeClaim({ ...claim, ...change }, proof), JSON.stringify(change)).to.equal(false);
    const asked = signChangeClaim({ origin, token }, secret);
    expect(verifyChangeClaim({ origin, token }, asked)).to.equal(true);
    expect(verifyChangeClaim(claim, asked)).to.equal(false);
  });

  it("is not accepted from another key, or if any bit of key or signature differs", () => {
    const proof = signChangeClaim(claim, secret);
    const thief = tokenSecretOf(PACK, 2);
    const stolen = { ...claim, token: { ...token, nonce: nonceOfTokenSecret(thief) } };
    expect(verifyChangeClaim(claim, signChangeClaim(stolen, thief))).to.equal(false);
    expectCode("INVALID_KEY", () => signChangeClaim(claim, thief), /does not belong to the claim's token/);
    for (const name of ["publicKey", "signature"] as const)
      for (let bit = 0; bit < (name === "signature" ? 512 : 256); bit += 5) {
        const bytes = hexToBytes(proof[name], name === "signature" ? 64 : 32);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        expect(verifyChangeClaim(claim, { ...proof, [name]: bytesToHex(bytes) }), `${name} ${bit}`).to.equal(false);
      }
  });

  it("is not accepted from a key of small order, whose signature would fit every claim", () => {
    // The neutral element, and R = 0 with s = 0.
    const publicKey = `0x01${"00".repeat(31)}`;
    const nonce = `0x${createHash("sha256")
      .update(Buffer.from(publicKey.slice(2), "hex"))
      .digest("hex")}`;
    const signature = `${publicKey}${"00".repeat(32)}`;
    expect(verifyChangeClaim({ ...claim, token: { ...token, nonce } }, { publicKey, signature })).to.equal(false);
  });

  it("is refused if it is malformed", () => {
    const proof = signChangeClaim(claim, secret);
    for (const wrong of [null, undefined, 5, "claim"])
      expectCode("INVALID_ARGUMENT", () => changeClaimMessage(wrong as never));
    for (const wrong of ["", "data.example", "https://data.example/", null, 5])
      expectCode("INVALID_STRING", () => verifyChangeClaim({ ...claim, origin: wrong as string }, proof));
    for (const wrong of ["", "0x", "0x12", batch.toUpperCase(), null, 5, `${batch}00`]) {
      expectCode("INVALID_HEX", () => signChangeClaim({ ...claim, batch: wrong as string }, secret));
      expectCode("INVALID_HEX", () => changeClaimMessage({ ...claim, token: { ...token, nonce: wrong as string } }));
      expectCode("INVALID_HEX", () => tokenIdHash({ ...token, keyId: wrong as string }));
      expectCode("INVALID_HEX", () => verifyChangeClaim(claim, { ...proof, publicKey: wrong as string }));
      expectCode("INVALID_HEX", () => verifyChangeClaim(claim, { ...proof, signature: wrong as string }));
    }
    expectCode("INVALID_ARGUMENT", () => verifyChangeClaim(claim, null as never));
    expectCode("INVALID_ARGUMENT", () => tokenIdHash(undefined as never));
  });
});
