import { FIELD_MODULUS } from "@sotto/protocol";
import { thrown } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { poolInterface } from "../src/ethers/index.ts";
import { decodeEvent, decodeSettleCall } from "../src/index.ts";

const HASH = `0x${"ab".repeat(32)}`;
const place = { blockNumber: 5, blockHash: HASH, transactionHash: HASH, logIndex: 2, timestamp: 1_800_000_000 };
const ADDRESS = `0x${"Ab".repeat(20)}`.toLowerCase();
const word = (i: number) => FIELD_MODULUS - BigInt(i);

/** Encodes the event with ethers and decodes it with this package. */
const read = (name: string, values: unknown[]) =>
  decodeEvent({ ...place, ...poolInterface.encodeEventLog(name, values) });

describe("pool events", () => {
  it("decode what ethers encodes", () => {
    const digest = `0x${"cd".repeat(32)}`;
    expect(read("Deposited", [word(1), 7n, word(2), 9n])).to.deep.equal({
      ...place,
      type: "deposited",
      ownerTag: word(1),
      amount: 7n,
      commitment: word(2),
      leafIndex: 9,
    });
    expect(read("Settled", [word(1), digest, 2n, 3n, 4n, 5n, 6n, 7n, 8n])).to.deep.equal({
      ...place,
      type: "settled",
      nullifier: word(1),
      digest,
      ephemeralX: 2n,
      hiddenCipherX: 3n,
      amountHint: 4n,
      changeHint: 5n,
      recipientCommitment: 6n,
      changeCommitment: 7n,
      leafIndex: 8,
    });
    const nullifiers = [1n, 2n, 3n, 4n, 5n, 6n, 7n, word(3)];
    expect(read("Withdrawn", [ADDRESS, digest, nullifiers, 10n, 11n, ADDRESS, 12n, 13n, 14n, 15n])).to.deep.equal({
      ...place,
      type: "withdrawn",
      recipient: ADDRESS,
      digest,
      nullifiers,
      amount: 10n,
      fee: 11n,
      feeRecipient: ADDRESS,
      validUntil: 12n,
      changeHint: 13n,
      commitment: 14n,
      leafIndex: 15,
    });
    expect(read("Appended", [word(4), 64n, 17n])).to.deep.equal({
      ...place,
      type: "appended",
      newRoot: word(4),
      startIndex: 64,
      count: 17,
    });
  });

  it("are skipped if they are of another type", () => {
    expect(read("Skipped", [1n, 1])).to.equal(undefined);
    expect(decodeEvent({ ...place, topics: [HASH], data: "0x" })).to.equal(undefined);
    expect(decodeEvent({ ...place, topics: [], data: "0x" })).to.equal(undefined);
  });

  it("are rejected if malformed", () => {
    const { topics, data } = poolInterface.encodeEventLog("Appended", [1n, 2n, 3n]);
    const cases = [
      { topics, data: data.slice(0, -2) },
      { topics, data: `${data}00` },
      { topics, data: `${data.slice(0, -1)}g` },
      { topics: [...topics, HASH], data },
      { topics: topics.slice(0, 1), data },
      { topics: [topics[0]!, "0x12"], data },
      poolInterface.encodeEventLog("Appended", [FIELD_MODULUS, 2n, 3n]),
      poolInterface.encodeEventLog("Deposited", [1n, 2n, 2n ** 256n - 1n, 3n]),
    ];
    for (const log of cases) expect(thrown(() => decodeEvent({ ...place, ...log })).code).to.equal("POOL_MISMATCH");
  });

  it("have only word-sized fields, which the decoder relies on", () => {
    poolInterface.forEachEvent(({ inputs }) => {
      for (const { type } of inputs) expect(type).to.match(/^(uint\d+|bytes32|address)(\[\d+\])?$/);
    });
  });
});

describe("settle calls", () => {
  const payment = (first: number) => ({
    proof: Array.from({ length: 8 }, (_, i) => BigInt(first + i)),
    signals: Array.from({ length: 10 }, (_, i) => word(first + i)),
    validUntil: BigInt(first),
    resourceDigest: HASH,
  });
  const encode = (payments: unknown[]) => poolInterface.encodeFunctionData("settle", [payments]);

  it("decode what ethers encodes, with each payment's offset", () => {
    const payments = [payment(1), payment(100)];
    const resourceDigest = BigInt(HASH);
    expect(decodeSettleCall(encode(payments))).to.deep.equal([
      { ...payments[0], resourceDigest, offset: 68 },
      { ...payments[1], resourceDigest, offset: 68 + 640 },
    ]);
    expect(decodeSettleCall(encode([]))).to.deep.equal([]);
  });

  it("are not decoded if they are cut short, extended, or calls of another function", () => {
    const call = encode([payment(1)]);
    const pointer = call.slice(0, 73);
    expect(pointer.endsWith("2")).to.equal(true);
    for (const other of [
      "0x",
      call.slice(0, 10),
      call.slice(0, -2),
      `${call}${"00".repeat(32)}`,
      `${pointer.slice(0, -1)}4${call.slice(73)}`,
      `0x12345678${call.slice(10)}`,
    ])
      expect(decodeSettleCall(other), other.slice(0, 80)).to.equal(undefined);
  });
});
