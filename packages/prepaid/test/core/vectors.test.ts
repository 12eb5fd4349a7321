import { constants, createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { publicVerif, TOKEN_TYPES, Token, TokenChallenge } from "@cloudflare/privacypass-ts";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@sotto/protocol";
import { expect } from "chai";
import { BlindMessages, encodePss } from "../../src/core/blind-rsa.ts";
import {
  decodePrepaidToken,
  encodePrepaidKey,
  encodePrepaidToken,
  encodeRsaKey,
  type PrepaidToken,
  parsePrepaidKey,
  prepaidChallengeDigest,
  prepaidTokenInput,
  preparePrepaidPack,
} from "../../src/index.ts";
import { createSigner } from "./support/signer.ts";

const { BlindRSAMode, Client, getPublicKeyBytes, Issuer, Origin, TokenResponse, TokenRequest, BLIND_RSA } = publicVerif;

/** Known-answer vectors of an RFC. */
const vectors = <T>(name: string): T =>
  JSON.parse(readFileSync(join(import.meta.dirname, "vectors", `${name}.json`), "utf8")) as T;

const bytesOf = (hex: string) => hexToBytes(hex, (hex.length - 2) / 2);

/** A vector of RFC 9474, appendix A.3; all hex with 0x. */
type SignatureVector = Record<
  "n" | "msg" | "salt" | "encoded_msg" | "inv" | "blinded_msg" | "blind_sig" | "sig",
  string
>;

/** A vector of RFC 9578, appendix B.2; all hex with 0x. */
type TokenVector = Record<
  "pkS" | "token_challenge" | "nonce" | "blind" | "salt" | "token_request" | "token_response" | "token",
  string
>;

/** x y = 1 mod n, by a different algorithm than the package's. */
function invert(x: bigint, n: bigint): bigint {
  const bezout = (a: bigint, b: bigint): readonly [bigint, bigint] => {
    if (b === 0n) return [1n, 0n];
    const [s, t] = bezout(b, a % b);
    return [t, s - (a / b) * t];
  };
  return ((bezout(x, n)[0] % n) + n) % n;
}

/** What node:crypto says of a token's signature. */
function isSigned(token: PrepaidToken, modulus: bigint): boolean {
  const key = createPublicKey({ key: Buffer.from(encodeRsaKey(modulus)), format: "der", type: "spki" });
  const options = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
  return verify("sha384", prepaidTokenInput(token), options, token.signature);
}

describe("prepaid tokens agree", () => {
  it("with RFC 9474's vector for RSABSSA-SHA384-PSS-Deterministic, whose key has 4,096 bits", () => {
    const vector = vectors<SignatureVector>("rfc9474");
    const n = BigInt(vector.n);
    const encoded = encodePss(bytesOf(vector.msg), bytesOf(vector.salt), n);
    expect(encoded).to.equal(BigInt(vector.encoded_msg));
    const inputs = [{ encoded, blind: invert(BigInt(vector.inv), n) }];
    const messages = new BlindMessages(inputs, n);
    expect(bytesToHex(messages.blind())).to.equal(vector.blinded_msg);
    const [signature] = messages.finalize(bytesOf(vector.blind_sig));
    expect(bytesToHex(signature!)).to.equal(vector.sig);
  });

  it("with RFC 9578's vectors for tokens of type 2", () => {
    const known = vectors<TokenVector[]>("rfc9578");
    expect(known).to.have.length(5);
    for (const vector of known) {
      const key = parsePrepaidKey(bytesOf(vector.pkS));
      expect(bytesToHex(encodePrepaidKey(key.modulus))).to.equal(vector.pkS);
      const challengeDigest = bytesToHex(sha256(bytesOf(vector.token_challenge)));
      const token = { nonce: vector.nonce, challengeDigest, keyId: key.id };
      const encoded = encodePss(prepaidTokenInput(token), bytesOf(vector.salt), key.modulus);
      const inputs = [{ encoded, blind: BigInt(vector.blind) }];
      const messages = new BlindMessages(inputs, key.modulus);
      const request = bytesToHex(messages.blind());
      // A request of RFC 9578 has the type and the last byte of the key's id before the blinded message.
      expect(`0x0002${key.id.slice(-2)}${request.slice(2)}`).to.equal(vector.token_request);
      const [signature] = messages.finalize(bytesOf(vector.token_response));
      const complete = { ...token, signature: signature! };
      expect(bytesToHex(encodePrepaidToken(complete))).to.equal(vector.token);
      expect(decodePrepaidToken(bytesOf(vector.token))).to.deep.equal(complete);
      expect(isSigned(complete, key.modulus)).to.equal(true);
    }
  });

  it("with another implementation as the signer and the verifier of our tokens", async () => {
    const keys = await Issuer.generateKey(BlindRSAMode.PSS, {
      modulusLength: 2048,
      publicExponent: Uint8Array.of(1, 0, 1),
    });
    const issuer = new Issuer(BlindRSAMode.PSS, "data.example", keys.privateKey, keys.publicKey);
    const key = parsePrepaidKey(await getPublicKeyBytes(issuer.publicKey));
    expect(key.id).to.equal(bytesToHex(await issuer.tokenKeyID()));
    const pack = preparePrepaidPack(new Uint8Array(32), key, "https://data.example", 1);
    const response = await issuer.issue(
      new TokenRequest(Number.parseInt(key.id.slice(-2), 16), pack.request, TOKEN_TYPES.BLIND_RSA),
    );
    const [token] = pack.finish(response.serialize());
    const parsed = Token.deserialize(TOKEN_TYPES.BLIND_RSA, encodePrepaidToken(token!));
    expect(await issuer.verify(parsed)).to.equal(true);
    const challenge = new TokenChallenge(BLIND_RSA.value, "data.example", new Uint8Array(0), ["data.example"]);
    expect(bytesToHex(sha256(challenge.serialize()))).to.equal(prepaidChallengeDigest("https://data.example"));
  });

  it("with another implementation as the client for tokens that we sign and verify", async () => {
    const signer = createSigner();
    const client = new Client(BlindRSAMode.PSS);
    const challenge = new Origin(BlindRSAMode.PSS, ["data.example"]).createTokenChallenge(
      "data.example",
      new Uint8Array(0),
    );
    const request = await client.createTokenRequest(challenge, encodePrepaidKey(signer.key.modulus));
    const token = await client.finalize(TokenResponse.deserialize(signer.sign(request.blindedMsg)));
    const decoded = decodePrepaidToken(token.serialize());
    expect(decoded.keyId).to.equal(signer.key.id);
    expect(decoded.challengeDigest).to.equal(prepaidChallengeDigest("https://data.example"));
    expect(isSigned(decoded, signer.key.modulus)).to.equal(true);
    const forged = { ...decoded, nonce: `0x${"00".repeat(32)}` };
    expect(isSigned(forged, signer.key.modulus)).to.equal(false);
  });
});
