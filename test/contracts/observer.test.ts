import {
  BASE8,
  FIELD_MODULUS,
  multiplyPoint,
  noteCommitment,
  nullifier,
  packPoint,
  paymentContext,
  paymentSignals,
  recipientSignal,
  resourceDigest,
  validUntilOf,
} from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import { keccak256, toUtf8Bytes } from "ethers";
import { type Merchant, merchant, type Observed, observe, type Payer, payers, words } from "./support/observed.ts";

const URLS = [
  "https://api.example/weather",
  "https://api.example/news?page=1",
  `https://api.example/${"x".repeat(500)}`,
];
const AMOUNTS = [0n, 1n, 250_000n, 9_876_543n];

/** Knows every possible party and resource of a payment, so only the secrets are left to guess. */
describe("an observer of the chain", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  let merchants: Merchant[];
  let people: Payer[][];
  let seen: { observed: Observed; words: Set<bigint>; hex: string }[];

  before(async () => {
    world = await PoolWorld.create("observer");
    merchants = [1, 2, 3].map((seed) => merchant(world, seed));
    people = await payers(world, 2, 5);
    const pay = async (who: number, which: number, to: number, amount: number, url: number) => {
      const secret = {
        payer: people[who]![which]!,
        merchant: merchants[to]!,
        amount: AMOUNTS[amount]!,
        resourceUrl: URLS[url]!,
      };
      const observed = await observe(world, secret);
      const hex = [observed.calldata, ...observed.logs.flatMap(({ topics, data }) => [...topics, data])];
      const storage = observed.writes.flatMap(({ slot, value }) => [slot, value]);
      return { observed, words: new Set(words(observed)), hex: [...hex, ...storage].join("").toLowerCase() };
    };
    // The first differs from each of the others in one respect: payer, recipient, resource or amounts.
    seen = [await pay(0, 0, 0, 2, 0)];
    seen.push(await pay(1, 0, 0, 2, 0), await pay(0, 1, 1, 2, 0), await pay(0, 2, 0, 2, 2));
    seen.push(await pay(0, 3, 0, 0, 0), await pay(1, 1, 0, 3, 0), await pay(1, 2, 2, 1, 1));
  });

  /** Numbers that would confirm a guess if the chain showed them. */
  function guesses(payment: Observed): Map<string, bigint> {
    const found = new Map<string, bigint>();
    const add = (what: string, value: bigint | string) => found.set(what, BigInt(value) % 2n ** 256n);
    for (const [m, { wallet, encryptionKey, ownerTag }] of merchants.entries()) {
      add(`wallet ${m}`, wallet);
      add(`key ${m}`, encryptionKey.x);
      add(`key y ${m}`, encryptionKey.y);
      add(`packed key ${m}`, packPoint(encryptionKey));
      add(`tag ${m}`, ownerTag);
      add(`recipient ${m} without salt`, recipientSignal({ wallet, keyX: encryptionKey.x, ownerTag }, 0n));
      for (const amount of AMOUNTS) {
        add(`note of ${amount} for ${m}`, noteCommitment({ amount, ownerTag, blinding: 0n }));
        add(
          `note of ${amount} for ${m}, hint`,
          noteCommitment({ amount, ownerTag, blinding: paymentSignals(payment.prepared.publicSignals).amountHint }),
        );
      }
    }
    for (const resourceUrl of URLS) {
      add(`hash of ${resourceUrl}`, keccak256(toUtf8Bytes(resourceUrl)));
      add(`hash of ${resourceUrl} mod p`, BigInt(keccak256(toUtf8Bytes(resourceUrl))) % FIELD_MODULUS);
      // The observer even knows the timestamp to the millisecond.
      for (const timestamp of seen.map(({ observed }) => Number(observed.prepared.validUntil) * 1000 - 180_000)) {
        const digest = resourceDigest({ resourceUrl, timestamp, senderCommitment: 0n });
        add(`digest of ${resourceUrl} at ${timestamp}`, digest);
        const context = { ...world.deployment, validUntil: validUntilOf(timestamp), resourceDigest: digest };
        add(`context of ${resourceUrl} at ${timestamp}`, paymentContext(context));
      }
    }
    for (const amount of AMOUNTS.slice(2)) {
      add(`amount ${amount}`, amount);
      add(`point of ${amount}`, multiplyPoint(BASE8, amount).x);
      for (const { note } of people.flat()) add(`change of ${amount}`, note.amount - amount);
    }
    for (const { depositor, note, commitment } of people.flat()) {
      add(`depositor ${depositor}`, depositor);
      add(`tag ${note.leafIndex} of ${depositor}`, note.ownerTag);
      add(`commitment ${note.leafIndex} of ${depositor}`, commitment);
      add(`blinding ${note.leafIndex}`, note.blinding);
      add(`nullifier ${note.leafIndex} by its tag`, nullifier(note.ownerTag, commitment, note.leafIndex));
      add(`nullifier ${note.leafIndex} by nothing`, nullifier(0n, commitment, note.leafIndex));
    }
    return found;
  }

  it("cannot confirm a guess about recipient, resource, amount or depositor", () => {
    for (const { observed, words: shown, hex } of seen) {
      for (const [what, value] of guesses(observed)) {
        expect(shown.has(value), what).to.equal(false);
        // The value must not appear inside another word either. Small numbers are skipped, because they occur in many
        // words.
        const digits = value.toString(16);
        if (digits.length > 16) expect(hex.includes(digits), `${what}, unaligned`).to.equal(false);
      }
    }
  });

  it("confirms the same guesses if it has the payer's secrets (control)", () => {
    const { observed, words: shown } = seen[0]!;
    const { wallet, encryptionKey, ownerTag } = merchants[0]!;
    const { senderCommitment, recipientNote, validUntil } = observed.prepared;
    const timestamp = Number(validUntil) * 1000;
    expect(shown.has(recipientSignal({ wallet, keyX: encryptionKey.x, ownerTag }, senderCommitment))).to.equal(true);
    expect(shown.has(noteCommitment(recipientNote))).to.equal(true);
    const { note, commitment } = people[0]![0]!;
    expect(shown.has(nullifier(note.spendingKey, commitment, note.leafIndex))).to.equal(true);
    expect(
      shown.has(paymentContext({ ...world.deployment, validUntil, resourceDigest: observed.prepared.resourceDigest })),
    ).to.equal(true);
    const digests = Array.from({ length: 60 }, (_, second) =>
      resourceDigest({ resourceUrl: URLS[0]!, timestamp: timestamp - 180_000 + second * 1000, senderCommitment }),
    );
    expect(digests.some((digest) => shown.has(BigInt(digest)))).to.equal(true);
  });

  it("sees the same shape for payments that differ in recipient, resource, amount or depositor", () => {
    const shape = ({ observed }: (typeof seen)[number]) => ({
      calldata: observed.calldata.length,
      selector: observed.calldata.slice(0, 10),
      head: observed.calldata.slice(10, 10 + 2 * 64),
      logs: observed.logs.map(({ topics, data }) => [topics.length, topics[0], data.length]),
      writes: observed.writes.length,
      gas: observed.executionGas,
    });
    for (const payment of seen) expect(shape(payment)).to.deep.equal(shape(seen[0]!));
  });

  it("sees no number that two payments share, except the pool's own", () => {
    const proper = seen.map(({ observed }) => {
      const { publicSignals } = observed.prepared;
      return [...publicSignals.filter((_, i) => i !== 5)];
    });
    const all = proper.flat();
    expect(new Set(all).size).to.equal(all.length);
    for (const [i, { words: shown }] of seen.entries()) {
      for (const [j, signals] of proper.entries()) {
        if (i !== j)
          for (const signal of signals) expect(shown.has(signal), `payment ${j} in payment ${i}`).to.equal(false);
      }
    }
  });
});
