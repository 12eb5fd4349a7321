import { createHmac, randomBytes } from "node:crypto";
import { MAX_URL_LENGTH } from "@sotto/protocol";
import { expect } from "chai";
import { BodyDigest, Challenge, Credential, PaymentRequest, Receipt } from "mppx";
import * as mpp from "../../src/index.ts";
import { MppError } from "../../src/index.ts";
import { challenge, charge, requestOf } from "./support/charge.ts";

const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Base64url that lenient decoders read as this JSON: bits of the last character, which belong to no byte, are set. */
function withBitsAfterTheEnd(value: unknown): string {
  const json = JSON.stringify(value);
  // Three bytes are four characters without such bits.
  const encoded = Buffer.from(json.length % 3 === 0 ? `${json} ` : json).toString("base64url");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const changed = encoded.slice(0, -1) + alphabet[alphabet.indexOf(encoded.at(-1)!) + 1];
  expect(JSON.parse(Buffer.from(changed, "base64url").toString())).to.deep.equal(value);
  return changed;
}

describe("wire of MPP", () => {
  it("writes challenges that mppx reads, and reads those of mppx", () => {
    for (const extra of [
      {},
      { expires: "2026-11-28T12:00:00Z" },
      { digest: mpp.bodyDigest(Buffer.from("{}")), opaque: text({ a: "b" }), expires: "2026-11-28T12:00:00.123Z" },
      { description: 'a "quoted" \\ text, Payment x=1, \u2014 and \u{1f4b8}' },
      { header: "Payment-Authorization" },
    ]) {
      const own = { ...challenge(), ...extra };
      const read = Challenge.deserialize(mpp.encodeChallenge(own));
      expect({ ...read, request: PaymentRequest.serialize(read.request) }).to.deep.equal(own);
      const [theirs] = mpp.parseChallenges(Challenge.serialize(read));
      expect(theirs).to.deep.equal(own);
    }
  });

  it("finds the challenges of MPP among other schemes, as mppx does", () => {
    const own = mpp.encodeChallenge(challenge());
    const other = mpp.encodeChallenge({ ...challenge(), method: "tempo", description: 'x402-zk, Payment id="1"' });
    for (const [header, methods] of [
      [own, ["sotto"]],
      [`x402-zk, ${own}`, ["sotto"]],
      [`${own}, x402-zk`, ["sotto"]],
      [`${other}, Bearer realm="Payment a", x402-zk, ${own}`, ["tempo", "sotto"]],
    ] as const) {
      expect(mpp.parseChallenges(header).map(({ method }) => method)).to.deep.equal(methods);
      expect(Challenge.deserializeList(header).map(({ method }) => method)).to.deep.equal(methods);
    }
    for (const header of ["", "x402-zk", 'Bearer realm="Payment id=1"', "Payment", 'Payment realm="a"'])
      expect(mpp.parseChallenges(header), header).to.deep.equal([]);
  });

  it("leaves out challenges that are malformed, too long or have a parameter twice", () => {
    const own = mpp.encodeChallenge(challenge());
    const broken = [
      own.replace(/id="[^"]*"/, 'id=""'),
      own.replace('method="sotto"', 'method="Sotto"'),
      own.replace("realm=", "realm=a, realm="),
      own.replace(/request="/, 'request="='),
      `${own}, expires="tomorrow"`,
      `${own}, description="${"x".repeat(mpp.MAX_CHALLENGE_LENGTH)}"`,
      `${own}, description="no end`,
    ];
    for (const one of broken) expect(mpp.parseChallenges(one), one).to.deep.equal([]);
    expect(mpp.parseChallenges(`${broken[0]}, ${own}`)).to.deep.equal([challenge()]);
  });

  it("reads unknown parameters, bare tokens and any case", () => {
    const { id, realm, method, intent, request } = challenge();
    const header = `pAyMeNt ID=${id}, Realm="${realm}" ,method=${method},intent=${intent},, request="${request}", x-new="1"`;
    expect(mpp.parseChallenges(header)).to.deep.equal([challenge()]);
  });

  it("binds the id as mppx does", () => {
    const secretKey = randomBytes(32).toString("hex");
    for (const extra of [
      {},
      { expires: "2026-11-28T12:00:00Z", digest: "sha-256=:AA==:", opaque: text({ a: "b" }) },
      { header: "Payment-Authorization" },
    ]) {
      const own = { ...challenge(), ...extra };
      const { id: _, ...rest } = own;
      const { id } = Challenge.from({ ...rest, request: JSON.parse(requestOf(own)), secretKey });
      expect(createHmac("sha256", secretKey).update(mpp.challengeBinding(own)).digest("base64url")).to.equal(id);
    }
  });

  it("writes credentials that mppx reads, and reads those of mppx", () => {
    const own = { challenge: { ...challenge(), opaque: text({ a: "b" }) }, payload: { proof: ["1"] } };
    for (const source of [undefined, "did:pkh:eip155:1:0x00"]) {
      const value = mpp.encodeCredential({ ...own, source });
      const read = Credential.deserialize(value);
      expect(read.payload).to.deep.equal(own.payload);
      expect(read.source).to.equal(source);
      const [scheme] = mpp.paymentSchemes([Credential.serialize(read)]);
      expect(mpp.parseCredential(scheme!.rest[0]!)).to.deep.equal({ ...own, source });
    }
  });

  it("refuses credentials that are malformed, ambiguous, nested or too long", () => {
    const good = { challenge: challenge(), payload: {} };
    const token = (json: string) => Buffer.from(json).toString("base64url");
    const refused: Record<string, string> = {
      "no base64url": "!",
      padding: `${text(good)}=`,
      "base64 of the standard alphabet": "+/+/",
      "bits after the end": withBitsAfterTheEnd(good),
      "no JSON": token("{"),
      "no UTF-8": Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]).toString("base64url"),
      null: text(null),
      array: text([good]),
      "no challenge": text({ payload: {} }),
      "no payload": text({ challenge: challenge() }),
      "a payload that is not an object": text({ ...good, payload: "x" }),
      "a source that is not a text": text({ ...good, source: 1 }),
      "a challenge without id": text({ ...good, challenge: { ...challenge(), id: undefined } }),
      "a challenge whose request is an object": text({ ...good, challenge: { ...challenge(), request: {} } }),
      "opaque as an object": text({ ...good, challenge: { ...challenge(), opaque: {} } }),
      "the same key twice": token(JSON.stringify(good).replace('"payload":{}', '"payload":{},"payload":{"a":1}')),
      "an escaped key twice": token(JSON.stringify(good).replace("{}", '{"a":1,"\\u0061":2}')),
      "a key of the prototype": token(JSON.stringify(good).replace("{}", '{"__proto__":1}')),
      "deep nesting": token(JSON.stringify(good).replace("{}", `{"a":${"[".repeat(3000)}${"]".repeat(3000)}}`)),
      "too long": text({ ...good, payload: { a: "x".repeat(mpp.MAX_CREDENTIAL_LENGTH) } }),
    };
    expect(mpp.parseCredential(text(good)).payload).to.deep.equal({});
    for (const [name, value] of Object.entries(refused))
      expect(() => mpp.parseCredential(value), name)
        .to.throw(MppError)
        .with.property("code", "MPP_CREDENTIAL_INVALID");
  });

  it("writes the terms as canonical JSON, which mppx leaves unchanged", () => {
    const schedule = { path: "/.well-known/sotto/addresses", digest: `0x${"55".repeat(32)}` };
    for (const terms of [charge(), { ...charge(), resource: undefined }, { ...charge(), schedule }]) {
      const request = mpp.encodeCharge(terms);
      expect(mpp.parseCharge(request)).to.deep.equal(terms);
      expect(PaymentRequest.serialize(PaymentRequest.deserialize(request))).to.equal(request);
    }
  });

  it("refuses a request that is not canonical, or has a field out of range", () => {
    const json = JSON.parse(requestOf(challenge()));
    const { methodDetails: details } = json;
    const encode = (value: object) => Buffer.from(mpp.canonicalJson(value)).toString("base64url");
    expect(mpp.parseCharge(encode({ ...json, externalId: "1" }))).to.deep.equal(charge());
    const refused: Record<string, string> = {
      "white space": Buffer.from(requestOf(challenge()).replace(":", ": ")).toString("base64url"),
      "another order": text({ recipient: json.recipient, ...json, methodDetails: details }),
      "an escaped letter": Buffer.from(requestOf(challenge()).replace("amount", "\\u0061mount")).toString("base64url"),
      "amount 0": encode({ ...json, amount: "0" }),
      "a number as amount": encode({ ...json, amount: 1 }),
      "a decimal amount": encode({ ...json, amount: "0.1" }),
      "no currency": encode({ ...json, currency: undefined }),
      "a recipient that is not an address": encode({ ...json, recipient: "acct_1" }),
      "no methodDetails": encode({ ...json, methodDetails: undefined }),
      "a chain id as text": encode({ ...json, methodDetails: { ...details, chainId: "31337" } }),
      "a resource that is too long": encode({
        ...json,
        methodDetails: { ...details, resource: `https://data.example/${"a".repeat(MAX_URL_LENGTH)}` },
      }),
      "a schedule of another host": encode({
        ...json,
        methodDetails: { ...details, schedule: { path: "//evil.example", digest: `0x${"55".repeat(32)}` } },
      }),
      "a service that is not a URL": encode({ ...json, methodDetails: { ...details, service: "x" } }),
      "a shielded address that is not a point": encode({
        ...json,
        methodDetails: { ...details, recipient: { ...details.recipient, shieldedAddress: `0x${"1".repeat(128)}` } },
      }),
      "no signature": encode({
        ...json,
        methodDetails: { ...details, recipient: { ...details.recipient, signature: undefined } },
      }),
    };
    for (const [name, request] of Object.entries(refused))
      expect(() => mpp.parseCharge(request), name)
        .to.throw(MppError)
        .with.property("code", "MPP_REQUEST_INVALID");
  });

  it("orders keys by code units, and refuses lone surrogates", () => {
    expect(mpp.canonicalJson({ "10": 1, "9": 2, "\u{1f600}": 3, "\ufb33": 4, a: [{ c: null, b: 1.5e300 }] })).to.equal(
      '{"10":1,"9":2,"a":[{"b":1.5e+300,"c":null}],"\u{1f600}":3,"\ufb33":4}',
    );
    expect(() => mpp.canonicalJson(["\ud800"])).to.throw(URIError);
  });

  it("writes receipts that mppx reads, and refuses those of other methods", () => {
    const own = {
      challengeId: "abc",
      reference: `0x${"1".repeat(64)}` as const,
      timestamp: "2026-11-28T12:00:00.000Z",
    };
    const read = Receipt.deserialize(mpp.encodeReceipt(own));
    expect(read).to.deep.equal({ ...own, method: "sotto", status: "success" });
    expect(mpp.parseReceipt(Receipt.serialize(read))).to.deep.equal(own);
    for (const change of [{ method: "tempo" }, { status: "failed" }, { reference: "x" }, { timestamp: "now" }])
      expect(() => mpp.parseReceipt(text({ ...read, ...change }))).to.throw(MppError);
    for (const change of [{ reference: "0x1" as const }, { timestamp: "now" }])
      expect(() => mpp.encodeReceipt({ ...own, ...change })).to.throw(MppError);
  });

  it("digests bodies as RFC 9530 writes it; mppx omits the colons", () => {
    const digest = mpp.bodyDigest(Buffer.from('{"amount":"1000"}'));
    expect(digest.replaceAll(":", "")).to.equal(BodyDigest.compute('{"amount":"1000"}'));
    expect(digest).to.match(/^sha-256=:[A-Za-z0-9+/]{43}=:$/);
  });
});
