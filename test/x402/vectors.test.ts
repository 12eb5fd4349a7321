// docs/x402-vectors.json was computed by code other than the code under test.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { amountBounds, bindingDigest, parseAddress, SottoError, verifyBindingSignature } from "@sotto/protocol";
import { checkX402Payment, checkX402Time, parseX402Payload, parseX402Terms, x402Reason } from "@sotto/protocol/x402";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { decode } from "./support/resource-server.ts";

type Json = Record<string, unknown>;

const root = join(import.meta.dirname, "..", "..");

interface Vectors {
  readonly requirements: Json;
  readonly payload: Json;
  readonly header: string;
  readonly derived: Record<"bindingDigest" | "lowerBound" | "upperBound" | "nullifier" | "digest", string>;
  readonly refused: readonly { where: "requirements" | "payload"; path: string; value: unknown; reason: string }[];
}
const vectors = JSON.parse(readFileSync(join(root, "docs", "x402-vectors.json"), "utf8")) as Vectors;

/** The reason with which a payment is refused. */
function reasonOf(requirements: unknown, payload: unknown): string {
  try {
    const refusal = checkX402Payment(parseX402Payload(payload), parseX402Terms(requirements));
    return refusal === undefined ? "none" : x402Reason(refusal.reason);
  } catch (error) {
    if (error instanceof SottoError) return x402Reason(error.code);
    throw error;
  }
}

function changed(of: Json, path: string, value: unknown): Json {
  const copy = structuredClone(of);
  const keys = path.split(".");
  const last = keys.pop()!;
  const inner = keys.reduce<Json>((object, key) => object[key] as Json, copy);
  inner[last] = value;
  return copy;
}

describe("the vectors of docs/x402.md", function () {
  slow(this, "a chain, a service and proofs");
  const { requirements, payload, derived } = vectors;
  const terms = parseX402Terms(requirements);
  const payment = parseX402Payload(payload);
  const { timestamp } = payment.bundle;

  it("have a payment that satisfies the requirements", async () => {
    expect(reasonOf(requirements, payload)).to.equal("none");
    const { lowerBound, upperBound } = amountBounds(terms.amount);
    expect([lowerBound, upperBound].map(String)).to.deep.equal([derived.lowerBound, derived.upperBound]);
    expect(payment.digest).to.equal(derived.digest);
    expect(String(payment.signals.nullifier)).to.equal(derived.nullifier);
    const { accepted, payload: sent, x402Version } = decode(vectors.header);
    expect([x402Version, accepted, sent]).to.deep.equal([2, requirements, payload]);
  });

  it("have a recipient with a valid signature", async () => {
    const { wallet, recipient, chainId, pool } = terms;
    const { shieldedAddress: key, issuedAt, service, phone, signature } = recipient;
    const binding = { phone, wallet: parseAddress(wallet), key, chainId, pool, service, issuedAt };
    expect(bindingDigest(binding)).to.equal(derived.bindingDigest);
    const nobody = () => Promise.reject(new Error("an account's signature needs no chain"));
    expect(await verifyBindingSignature(binding, signature, nobody)).to.equal(true);
  });

  it("are fresh as long as stated", () => {
    const at = (ms: number) => checkX402Time(payment, terms, timestamp + ms)?.reason;
    expect([at(0), at(300_000), at(-30_000)]).to.deep.equal([undefined, undefined, undefined]);
    expect([at(300_001), at(-30_001)]).to.deep.equal(["TIMESTAMP_TOO_OLD", "TIMESTAMP_IN_FUTURE"]);
    const short = parseX402Terms({ ...requirements, maxTimeoutSeconds: 10 });
    expect(checkX402Time(payment, short, timestamp + 10_001)?.reason).to.equal("TIMESTAMP_TOO_OLD");
    const long = parseX402Terms({ ...requirements, maxTimeoutSeconds: 86_400 });
    expect(checkX402Time(payment, long, timestamp + 300_001)?.reason).to.equal("TIMESTAMP_TOO_OLD");
  });

  for (const { where, path, value, reason } of vectors.refused)
    it(`reject ${path} ${JSON.stringify(value)} in the ${where}: ${reason}`, () => {
      const next = { requirements, payload };
      next[where] = changed(next[where], path, value);
      expect(reasonOf(next.requirements, next.payload)).to.equal(reason);
    });

  it("are documented with every field and reason", () => {
    const page = readFileSync(join(root, "docs", "x402.md"), "utf8");
    const names = (value: unknown): string[] =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([key, inner]) => [key, ...names(inner)])
        : [];
    const fields = [...names(requirements), ...names(payload), ...vectors.refused.map(({ reason }) => reason)];
    expect(fields.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`"${name}"`))).to.deep.equal([]);
  });
});
