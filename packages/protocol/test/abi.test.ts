import { expect } from "chai";
import fc from "fast-check";
import {
  appendChallenge,
  depositAuthorizationNonce,
  depositBlinding,
  foldQueue,
  paymentContext,
  resourceDigest,
  senderNonce,
  signalsDigest,
  TREE_CAPACITY,
  withdrawalContext,
} from "../src/index.ts";
import { amount, field, runs } from "./support/arbitraries.ts";
import * as oracle from "./support/oracle.ts";

/* Compares every hash that a contract also computes with ethers' ABI encoder. */
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => `0x${Buffer.from(value).toString("hex")}`);
const chainId = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
const time = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const leafIndex = fc.nat({ max: TREE_CAPACITY - 1 });
const leaf = field.filter((value) => value !== 0n);

describe("hashes of ABI-encoded words", () => {
  it("match ethers for contexts of payments and withdrawals", () => {
    fc.assert(
      fc.property(chainId, hex(20), time, hex(32), (chain, pool, validUntil, digest) => {
        const types = ["uint256", "address", "uint64", "bytes32"];
        const expected = oracle.keccakField(types, [chain, pool, validUntil, digest]);
        expect(paymentContext({ chainId: chain, pool, validUntil, resourceDigest: digest })).to.equal(expected);
      }),
      runs(50),
    );
    fc.assert(
      fc.property(
        chainId,
        hex(20),
        hex(20),
        hex(20),
        amount,
        time,
        (chain, pool, recipient, feeRecipient, fee, validUntil) => {
          const types = ["uint256", "address", "address", "uint256", "address", "uint64"];
          const expected = oracle.keccakField(types, [chain, pool, recipient, fee, feeRecipient, validUntil]);
          const context = withdrawalContext({ chainId: chain, pool, recipient, fee, feeRecipient, validUntil });
          expect(context).to.equal(expected);
        },
      ),
      runs(50),
    );
  });

  it("match ethers for resource digests of any well-formed text", () => {
    const url = fc.string({ unit: "grapheme", minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(url, fc.nat(), field, (resourceUrl, timestamp, senderCommitment) => {
        const words = [oracle.keccakText(resourceUrl), timestamp, senderCommitment];
        const expected = oracle.keccak(["bytes32", "uint256", "uint256"], words);
        expect(resourceDigest({ resourceUrl, timestamp, senderCommitment })).to.equal(expected);
      }),
      runs(50),
    );
  });

  it("match ethers for blindings and authorization nonces of deposits", () => {
    fc.assert(
      fc.property(chainId, hex(20), leafIndex, (chain, pool, index) => {
        const expected = oracle.keccakField(["uint256", "address", "uint256"], [chain, pool, index]);
        expect(depositBlinding({ chainId: chain, pool }, index)).to.equal(expected);
      }),
      runs(50),
    );
    const notes = fc.array(fc.tuple(field, amount), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(notes, hex(32), (pairs, salt) => {
        const [ownerTags, amounts] = [pairs.map(([tag]) => tag), pairs.map(([, value]) => value)];
        const expected = oracle.keccak(["uint256[]", "uint64[]", "bytes32"], [ownerTags, amounts, salt]);
        expect(depositAuthorizationNonce({ ownerTags, amounts }, salt)).to.equal(expected);
      }),
      runs(50),
    );
  });

  it("match ethers for the queue's chain and the challenge of an append", () => {
    fc.assert(
      fc.property(hex(32), field, (chain, value) => {
        expect(foldQueue(chain, value)).to.equal(oracle.keccak(["bytes32", "uint256"], [chain, value]));
      }),
      runs(50),
    );
    const leaves = fc.array(leaf, { minLength: 1, maxLength: 64 });
    fc.assert(
      fc.property(
        chainId,
        hex(20),
        field,
        field,
        leafIndex,
        leaves,
        (chain, pool, oldRoot, newRoot, startIndex, list) => {
          const types = ["uint256", "address", "uint256", "uint256", "uint256", "uint256", "uint256[]"];
          const expected = oracle.keccakField(types, [chain, pool, oldRoot, newRoot, startIndex, list.length, list]);
          const statement = { chainId: chain, pool, oldRoot, newRoot, startIndex, leaves: list };
          expect(appendChallenge(statement)).to.equal(expected);
        },
      ),
      runs(30),
    );
  });

  it("match ethers for digests of public signals", () => {
    for (const size of [6, 10, 13]) {
      fc.assert(
        fc.property(fc.array(field, { minLength: size, maxLength: size }), (signals) => {
          expect(signalsDigest(signals)).to.equal(oracle.keccak([`uint256[${size}]`], [signals]));
        }),
        runs(20),
      );
    }
  });

  it("match node:crypto's HMAC and Ed25519 for sender nonces", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), field, field, (key, nf, x) => {
        expect(senderNonce(key, nf, x)).to.equal(oracle.senderNonce(key, nf, x));
      }),
      runs(30),
    );
  });
});
