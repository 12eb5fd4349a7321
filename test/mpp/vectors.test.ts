// docs/mpp-vectors.json was computed by code other than the code under test.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  bodyDigest,
  challengeBinding,
  encodeChallenge,
  encodeCharge,
  encodeReceipt,
  type Json,
  type MppChallenge,
  MppError,
  parseChallenges,
  parseCharge,
  parseCredential,
  parseReceipt,
  paymentSchemes,
} from "@sotto/mpp";
import { parseProofHeader } from "@sotto/protocol";
import { expect } from "chai";
import { Challenge, Credential, PaymentRequest, Receipt } from "mppx";

interface Vectors
  extends Record<"secret" | "body" | "binding" | "challengeHeader" | "credentialHeader" | "receiptHeader", string> {
  readonly request: Json;
  readonly challenge: MppChallenge;
  readonly payload: Json;
  readonly receipt: Json;
  readonly refusedRequests: Readonly<Record<string, string>>;
  readonly refusedCredentials: Readonly<Record<string, string>>;
}
const path = join(import.meta.dirname, "..", "..", "docs", "mpp-vectors.json");
const vectors = JSON.parse(readFileSync(path, "utf8")) as Vectors;

/** The token of a header Authorization. */
const tokenOf = (header: string): string => paymentSchemes([header])[0]?.rest[0] ?? "";

describe("the vectors of docs/mpp.md", () => {
  const { challenge, payload } = vectors;

  it("have a challenge with these terms, this id and this header, for mppx too", () => {
    expect(parseChallenges(vectors.challengeHeader)).to.deep.equal([challenge]);
    expect(parseChallenges(encodeChallenge(challenge))).to.deep.equal([challenge]);
    expect(challengeBinding(challenge)).to.equal(vectors.binding);
    expect(createHmac("sha256", vectors.secret).update(vectors.binding).digest("base64url")).to.equal(challenge.id);
    expect(encodeCharge(parseCharge(challenge.request))).to.equal(challenge.request);
    expect(bodyDigest(Buffer.from(vectors.body))).to.equal(challenge.digest);
    const theirs = Challenge.deserialize(vectors.challengeHeader);
    expect(Challenge.verify(theirs, { secretKey: vectors.secret })).to.equal(true);
    expect(PaymentRequest.serialize(theirs.request)).to.equal(challenge.request);
    expect(theirs.request).to.deep.equal(vectors.request);
  });

  it("have a credential and a receipt, for mppx too", () => {
    expect(parseCredential(tokenOf(vectors.credentialHeader))).to.deep.equal({ challenge, payload, source: undefined });
    expect(parseProofHeader(JSON.stringify(payload)).txSignature).to.equal(payload["txSignature"]);
    expect(Credential.deserialize(vectors.credentialHeader).payload).to.deep.equal(payload);
    expect(encodeReceipt(parseReceipt(vectors.receiptHeader))).to.equal(vectors.receiptHeader);
    expect(Receipt.deserialize(vectors.receiptHeader)).to.deep.equal(vectors.receipt);
  });

  for (const [name, request] of Object.entries(vectors.refusedRequests))
    it(`refuse a request with ${name}`, () => {
      expect(() => parseCharge(request))
        .to.throw(MppError)
        .with.property("code", "MPP_REQUEST_INVALID");
    });

  for (const [name, header] of Object.entries(vectors.refusedCredentials))
    it(`refuse a credential with ${name}`, () => {
      expect(() => parseCredential(tokenOf(header)))
        .to.throw(MppError)
        .with.property("code", "MPP_CREDENTIAL_INVALID");
    });
});
