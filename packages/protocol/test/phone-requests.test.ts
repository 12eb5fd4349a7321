// Compares the requests that wallets sign for a phone registry with ethers' EIP-712.

import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { TypedDataEncoder, Wallet } from "ethers";
import {
  lookupDigest,
  lookupTypedData,
  type PhoneLookup,
  type PhoneUnlink,
  type RequestTypedData,
  unlinkDigest,
  unlinkTypedData,
  verifyWalletSignature,
} from "../src/index.ts";

const account = new Wallet(`0x${"17".repeat(32)}`);
const wallet = account.address.toLowerCase() as `0x${string}`;
const unlink: PhoneUnlink = {
  phone: "+4915112345678",
  wallet,
  chainId: 8453n,
  pool: `0x${"ab".repeat(20)}`,
  service: "https://pay.example/zk",
  issuedAt: 1_763_712_000,
};
const lookup: PhoneLookup = {
  phone: "+4915112345678",
  wallet,
  chainId: 8453n,
  service: "https://pay.example/zk",
  nonce: "abcdefghij_KLMNO-9",
  deadline: 1_763_712_060,
};
const signWith = ({ domain, types, message }: RequestTypedData) => account.signTypedData(domain, types, message);
const noChain = async () => {
  throw new Error("an account's signature needs no chain");
};

describe("requests to a phone registry", () => {
  it("have the digest that wallets sign", () => {
    for (const [data, digest] of [
      [unlinkTypedData(unlink), unlinkDigest(unlink)],
      [lookupTypedData(lookup), lookupDigest(lookup)],
    ] as const)
      expect(TypedDataEncoder.hash(data.domain, data.types, data.message)).to.equal(digest);
  });

  it("are signed by the wallet for exactly these fields", async () => {
    const signature = await signWith(unlinkTypedData(unlink));
    expect(await verifyWalletSignature(wallet, unlinkDigest(unlink), signature, noChain)).to.equal(true);
    const changes: Partial<PhoneUnlink>[] = [
      { phone: "+4915112345679" },
      { chainId: 1n },
      { pool: `0x${"ac".repeat(20)}` },
      { service: "https://pay.example/zk/" },
      { issuedAt: unlink.issuedAt + 300 },
    ];
    const digests = changes.map((change) => unlinkDigest({ ...unlink, ...change }));
    expect(new Set([...digests, unlinkDigest(unlink)]).size).to.equal(changes.length + 1);
    const lookups: Partial<PhoneLookup>[] = [
      { nonce: "abcdefghij_KLMNO-8" },
      { deadline: 1 },
      { phone: "+4915112345670" },
    ];
    const others = lookups.map((change) => lookupDigest({ ...lookup, ...change }));
    expect(new Set([...others, lookupDigest(lookup)]).size).to.equal(lookups.length + 1);
  });

  const wrong: [string, () => unknown][] = [
    ["a number that is not E.164", () => unlinkDigest({ ...unlink, phone: "015112345678" })],
    ["no number", () => lookupDigest({ ...lookup, phone: "" })],
    ["a service that is no URL", () => unlinkDigest({ ...unlink, service: "" })],
    ["an issuedAt between two slots", () => unlinkDigest({ ...unlink, issuedAt: 1 })],
    ["a short nonce", () => lookupDigest({ ...lookup, nonce: "short" })],
    ["a nonce of other characters", () => lookupDigest({ ...lookup, nonce: "x".repeat(15).concat("\n") })],
  ];
  for (const [what, action] of wrong)
    it(`are rejected with ${what}, without repeating it`, () => {
      expect(expectCode("BINDING_INVALID", action).message).to.not.include("0151");
    });
});
