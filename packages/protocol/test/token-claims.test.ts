import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { FIELD_MODULUS, type PaymentTokenClaims, parseTokenClaims, TOKEN_TYPE } from "../src/index.ts";
import { replaced, WRONG } from "./support/wrong-values.ts";

const CODE = "TOKEN_CLAIMS_INVALID";
const claims: PaymentTokenClaims = {
  jti: "0b9f7d8e-2a4e-4f4b-9d4e-3c8f6c1f0a11",
  digest: `0x${"ab".repeat(32)}`,
  chainId: "31337",
  pool: `0x${"22".repeat(20)}`,
  recipient: `0x${"33".repeat(20)}`,
  recipientKey: String(FIELD_MODULUS - 1n),
  recipientTag: "2",
  resourceHash: `0x${"cd".repeat(32)}`,
  senderCommitment: "0",
  nullifier: "4",
  timestamp: 1_800_000_000_000,
  validUntil: 1_800_000_180,
};

describe("the claims of a payment token", () => {
  it("are parsed, and the payload's other fields are ignored", () => {
    expect(parseTokenClaims({ ...claims, iss: "a", iat: 1, exp: 2, extra: {} })).to.deep.equal(claims);
    expect(TOKEN_TYPE).to.equal("sotto-payment-2+jwt");
  });

  it("are rejected if the payload is not an object", () => {
    for (const value of [...WRONG, "x", 5, true, [claims], Object.create(claims)])
      expectCode(CODE, () => parseTokenClaims(value));
  });

  const may: Partial<Record<keyof PaymentTokenClaims, readonly unknown[]>> = {
    jti: ["NaN", "-1", "1e3", "0x", "0x1e", "__proto__", "constructor"],
  };
  const more: Partial<Record<keyof PaymentTokenClaims, readonly unknown[]>> = {
    jti: ["a".repeat(65), "a b", "a\n", 5],
    digest: [claims.digest.slice(2), `${claims.digest}00`, claims.digest.toUpperCase()],
    chainId: [31337, "031337", "1".repeat(79), String(1n << 256n)],
    pool: [`${claims.pool}0`, claims.pool.slice(2)],
    recipient: ["0x70997970C51812dc3A010C7d01b50e0d17dc79c8"],
    recipientKey: [String(FIELD_MODULUS), "01", 1],
    recipientTag: [String(FIELD_MODULUS), "9".repeat(1000)],
    resourceHash: ["https://data.example/", claims.resourceHash.slice(2), `${claims.resourceHash}00`],
    senderCommitment: [String(FIELD_MODULUS), 3],
    nullifier: [String(FIELD_MODULUS), 4n],
    timestamp: [8_640_000_000_000_001, "1800000000000"],
    validUntil: [2 ** 53, "1800000180", 1.5],
  };
  for (const name of Object.keys(claims) as (keyof PaymentTokenClaims)[]) {
    it(`are rejected with a wrong ${name}`, () => {
      for (const value of [...WRONG, ...(more[name] ?? [])]) {
        if (may[name]?.includes(value)) continue;
        expectCode(CODE, () => parseTokenClaims(replaced(claims, [name], value)), new RegExp(name));
      }
      for (const value of may[name] ?? []) expect(parseTokenClaims({ ...claims, [name]: value })[name]).to.equal(value);
    });
  }
});
