import { foreign, NOT_BYTES } from "@sotto/test-kit/realm";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { BlindMessages, encodePss } from "../../src/core/blind-rsa.ts";
import {
  decodePrepaidToken,
  encodePrepaidKey,
  encodePrepaidToken,
  parsePrepaidKey,
  preparePrepaidPack,
} from "../../src/index.ts";
import { createSigner } from "./support/signer.ts";

describe("bytes of another realm", () => {
  it("are keys, tokens, secrets and signatures of packs, and other values are not", () => {
    const signer = createSigner();
    const spki = encodePrepaidKey(signer.key.modulus);
    expect(parsePrepaidKey(foreign(spki))).to.deep.equal(parsePrepaidKey(spki));
    const secret = new Uint8Array(32).fill(7);
    const pack = (given: Uint8Array) => preparePrepaidPack(given, signer.key, "https://data.example", 1);
    const { request } = pack(secret);
    expect(pack(foreign(secret)).request).to.deep.equal(request);
    const signatures = signer.sign(request);
    const [token] = pack(secret).finish(foreign(signatures));
    expect([token]).to.deep.equal(pack(secret).finish(signatures));
    const encoded = encodePrepaidToken(token!);
    expect(encodePrepaidToken({ ...token!, signature: foreign(token!.signature) })).to.deep.equal(encoded);
    expect(decodePrepaidToken(foreign(encoded))).to.deep.equal({ ...token!, signature: foreign(token!.signature) });
    const salt = new Uint8Array(48);
    const { modulus } = signer.key;
    expect(encodePss(secret, foreign(salt), modulus)).to.equal(encodePss(secret, salt, modulus));
    for (const other of NOT_BYTES as readonly Uint8Array[]) {
      expectCode("INVALID_KEY", () => parsePrepaidKey(other));
      expectCode("INVALID_KEY", () => pack(other));
      expectCode("INVALID_ARGUMENT", () => decodePrepaidToken(other));
      expectCode("INVALID_ARGUMENT", () => encodePrepaidToken({ ...token!, signature: other }));
      expectCode("INVALID_ARGUMENT", () => encodePss(secret, other, modulus));
      expectCode("INVALID_SIGNATURE", () => new BlindMessages([], modulus).finalize(other));
    }
  });
});
