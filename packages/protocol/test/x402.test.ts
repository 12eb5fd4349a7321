import { expect } from "chai";
import fc from "fast-check";
import { deriveKeys, SottoError } from "../src/index.ts";
import {
  parseX402Network,
  parseX402Payload,
  parseX402Terms,
  sameX402Terms,
  X402_ERRORS,
  X402_SCHEME,
  type X402Requirements,
  x402Network,
  x402Reason,
} from "../src/x402.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const address = (byte: string) => `0x${byte.repeat(20)}`;
const recipient = {
  shieldedAddress: deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT).shieldedAddress(),
  signature: `0x${"11".repeat(65)}`,
  issuedAt: 1_795_243_800,
};
const extra = {
  pool: address("aa"),
  decimals: 6,
  resource: "https://data.example/report",
  service: "https://zk.example/zk",
  recipient,
  challenge: "zk_req_1_a",
  artifactSet: "set",
};
const right: X402Requirements = {
  scheme: X402_SCHEME,
  network: "eip155:31337",
  asset: address("bb"),
  amount: "18446744073709551615",
  payTo: address("cc"),
  maxTimeoutSeconds: 300,
  extra,
};
const withExtra = (changes: object) => ({ ...right, extra: { ...extra, ...changes } });

/** The code of the X402Error that `act` throws, or "none". */
function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error, String((error as Error).stack)).to.be.instanceOf(SottoError);
    expect(X402_ERRORS).to.have.property((error as SottoError).code);
    return (error as SottoError).code;
  }
  return "none";
}

describe("x402 requirements", () => {
  it("are parsed into values, with empty defaults", () => {
    const terms = parseX402Terms(right);
    expect(terms).to.deep.include({
      chainId: 31337n,
      amount: (1n << 64n) - 1n,
      wallet: address("cc"),
      challenge: "zk_req_1_a",
    });
    expect(terms.recipient).to.deep.equal({ ...recipient, service: "", phone: "" });
    const { challenge: _, artifactSet: __, ...least } = extra;
    expect(parseX402Terms({ ...right, extra: least })).to.include({ challenge: undefined, artifactSet: undefined });
  });

  it("may name the schedule that lists the recipient's address", () => {
    const schedule = { path: "/.well-known/sotto/addresses", digest: `0x${"ab".repeat(32)}` };
    const terms = parseX402Terms(withExtra({ schedule: { ...schedule, more: 1 } }));
    expect(terms.schedule).to.deep.equal(schedule);
    expect(sameX402Terms(terms, parseX402Terms(right)), "the payment is the same").to.equal(true);
    for (const none of [right, withExtra({ schedule: null })])
      expect(parseX402Terms(none).schedule).to.equal(undefined);
    for (const wrong of [5, "/", {}, { ...schedule, path: "//evil.example" }, { ...schedule, digest: "0x" }])
      expect(codeOf(() => parseX402Terms(withExtra({ schedule: wrong })))).to.equal("X402_REQUIREMENTS_INVALID");
  });

  it("are equal regardless of challenge and spelling, and differ if any other term differs", () => {
    const terms = parseX402Terms(right);
    const same = [
      withExtra({ challenge: "zk_req_2_b", unknown: 1 }),
      { ...right, asset: address("BB") },
      { ...right, maxTimeoutSeconds: 60 },
    ];
    for (const next of same) expect(sameX402Terms(parseX402Terms(next), terms)).to.equal(true);
    const otherKey = deriveKeys(new Uint8Array(32).fill(8), DEPLOYMENT).shieldedAddress();
    const others = [
      { ...right, network: "eip155:1" },
      { ...right, asset: address("dd") },
      { ...right, amount: "1" },
      { ...right, payTo: address("dd") },
      ...[
        { pool: address("dd") },
        { resource: "https://data.example/report/" },
        { service: "https://other.example" },
      ].map(withExtra),
      withExtra({ recipient: { ...recipient, shieldedAddress: otherKey } }),
    ];
    for (const next of others) expect(sameX402Terms(parseX402Terms(next), terms), JSON.stringify(next)).to.equal(false);
  });

  it("are rejected as a whole if one field is invalid", () => {
    const wrong: object[] = [
      ...["", "1.5", "-1", "0", "00", "18446744073709551616", 5, null].map((amount) => ({ ...right, amount })),
      ...["me", address("zz"), null].flatMap((value) => [
        { ...right, payTo: value },
        { ...right, asset: value },
      ]),
      ...[0, -1, 1.5, "300", null].map((maxTimeoutSeconds) => ({ ...right, maxTimeoutSeconds })),
      ...[null, [], "x"].map((value) => ({ ...right, extra: value })),
      ...["", "x".repeat(2049), "\ud800", 5]
        .flatMap((value) => [{ resource: value }, { service: value }])
        .map(withExtra),
      ...[-1, 78, 1.5, "6"].map((decimals) => withExtra({ decimals })),
      ...["", "x".repeat(129), 5].map((challenge) => withExtra({ challenge })),
      ...["0x", "0xAB", "0x1", `0x${"11".repeat(2049)}`].map((signature) =>
        withExtra({ recipient: { ...recipient, signature } }),
      ),
      ...[-1, 1.5, 1e13, "1"].map((issuedAt) => withExtra({ recipient: { ...recipient, issuedAt } })),
      withExtra({ recipient: { ...recipient, shieldedAddress: `0x${"00".repeat(64)}` } }),
    ];
    for (const next of wrong)
      expect(
        codeOf(() => parseX402Terms(next)),
        JSON.stringify(next),
      ).to.equal("X402_REQUIREMENTS_INVALID");
    expect(codeOf(() => parseX402Terms({ ...right, scheme: "exact" }))).to.equal("X402_SCHEME_UNSUPPORTED");
    for (const network of ["eip155:", "eip155:01", "eip155:-1", "base", "EIP155:1", `eip155:${"1".repeat(33)}`, 1])
      expect(codeOf(() => parseX402Network(network))).to.equal("X402_NETWORK_UNSUPPORTED");
    expect(parseX402Network(x402Network(84532n))).to.equal(84532n);
  });

  it("throw only x402 errors for any JSON, and so do payloads", () => {
    const fields = fc.record(Object.fromEntries(Object.keys(extra).map((name) => [name, fc.jsonValue()])));
    const any = fc.oneof(
      fc.jsonValue(),
      fields.map((changes) => withExtra(changes)),
      fc.record(Object.fromEntries(Object.keys(right).map((name) => [name, fc.jsonValue()]))),
    );
    fc.assert(
      fc.property(any, (value) => {
        codeOf(() => parseX402Terms(value));
        expect(codeOf(() => parseX402Payload(value))).to.equal("X402_PAYLOAD_INVALID");
      }),
      { numRuns: 300 },
    );
  });

  it("are refused with the standard's reason if it defines one", () => {
    expect(Object.keys(X402_ERRORS).map((code) => x402Reason(code))).to.deep.equal([
      ...["invalid_x402_version", "unsupported_scheme", "invalid_network"],
      ...["invalid_payment_requirements", "invalid_payload"],
      // A listing is not part of a payment, so the standard has no reason for it.
      "sotto_x402_listing_invalid",
    ]);
    expect([x402Reason("NULLIFIER_SPENT"), x402Reason("constructor")]).to.deep.equal([
      ...["sotto_nullifier_spent", "sotto_constructor"],
    ]);
  });
});
