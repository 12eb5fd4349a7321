import { decodeSettleCall, type PoolEvent, type SettledEvent } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import { expect } from "chai";
import type { HistoryEntry } from "../../src/engine/api.ts";
import type { FeedTransaction } from "../../src/engine/pool-feed-api.ts";
import { callOf, EXPLANATIONS, fieldsOf } from "../../src/pages/observer/fields.ts";
import { chainPayments, seenPayments, sentFor, withDraft } from "../../src/pages/observer/payments.ts";

const word = (digits: string): string => `0x${digits.padStart(64, "0")}`;

function settled(id: number, transactionHash = word("aa")): SettledEvent {
  return {
    type: "settled",
    ...{ blockNumber: 7, blockHash: word("bb"), transactionHash, logIndex: id, timestamp: 1_800_000_000 },
    nullifier: BigInt(id),
    digest: word(String(id)),
    ephemeralX: 1n,
    hiddenCipherX: 2n,
    amountHint: 3n,
    changeHint: 4n,
    recipientCommitment: 5n,
    changeCommitment: 6n,
    leafIndex: 2 * id,
  };
}

function transactionOf(hash: string, events: readonly PoolEvent[]): FeedTransaction {
  const crowd = { notesBefore: 10, spentBefore: 2 };
  const feed = events.map((event, index) => ({ index, event, crowd: event.type === "settled" ? crowd : undefined }));
  return { hash, blockNumber: 7, timestamp: 1_800_000_000, events: feed };
}

const entry = (fields: Partial<HistoryEntry>): HistoryEntry => ({
  id: "own",
  kind: "payment",
  state: "settled",
  amount: 5n,
  at: 1_000,
  counterparty: "",
  resource: "https://a.example/1",
  transaction: "",
  block: undefined,
  digest: undefined,
  month: "",
  isOutsideMonth: false,
  ...fields,
});

describe("the observer's payments", () => {
  const batch = transactionOf(word("aa"), [settled(1), settled(2), settled(3)]);

  it("are numbered within their transaction", () => {
    expect(chainPayments(batch).map(({ event, place, batch }) => [event.logIndex, place, batch])).to.deep.equal([
      [1, 0, 3],
      [2, 1, 3],
      [3, 2, 3],
    ]);
  });

  it("belong to this wallet if it knows the digest, and come first until they are in a block", () => {
    const history = [
      entry({ digest: word("2") }),
      entry({ id: "waiting", state: "open" }),
      entry({ id: "deposit", kind: "deposit" }),
    ];
    const seen = seenPayments([batch], history);
    expect(seen.map(({ id, own }) => [id, own?.amount])).to.deep.equal([
      ["waiting", 5n],
      [word("3"), undefined],
      ["own", 5n],
      [word("1"), undefined],
    ]);
  });

  it("include the payment that is being made, until the history lists it", () => {
    const draft = { amount: 7n, at: 2_000, counterparty: "", resource: "https://a.example/1" };
    expect(withDraft([entry({})], draft, []).map(({ amount }) => amount)).to.deep.equal([7n, 5n]);
    expect(withDraft([entry({ at: 2_001 })], draft, [])).to.have.lengthOf(1);
    expect(withDraft([], undefined, [])).to.deep.equal([]);
  });

  it("ignore requests that do not contain their bundle", () => {
    const [payment] = seenPayments([batch], [entry({ digest: word("3") })]);
    const requests = ["", "{", "{}", "null"].map((body) => ({ at: 3_000, method: "POST", path: "/verify", body }));
    expect(sentFor(payment!, requests)).to.equal(undefined);
  });
});

describe("the public values of a payment", () => {
  const signals = Array.from({ length: 10 }, (_, i) => (i === 6 ? 2n : BigInt(100 + i)));
  const payment = {
    proof: Array.from({ length: 8 }, (_, i) => BigInt(i)),
    ...{ signals, validUntil: 1_800_000_180n, resourceDigest: word("cc") },
  };
  const other = { ...payment, signals: signals.map((signal) => signal + 1_000n) };
  const data = poolInterface.encodeFunctionData("settle", [[other, payment]]);
  const call = callOf(settled(2), decodeSettleCall(data));

  it("match the bytes of its part of the call", () => {
    const fields = fieldsOf(settled(2), call).filter(({ offset }) => offset !== undefined);
    const bytes = fields.map(({ words, offset = 0 }) => {
      expect(data.slice(2 + 2 * offset, 2 + 2 * offset + 64 * words.length)).to.equal(
        words.map((each) => each.slice(2)).join(""),
      );
      return 32 * words.length;
    });
    expect(bytes.reduce((sum, size) => sum + size)).to.equal(640);
    expect(call?.signals[6]).to.equal(2n);
  });

  it("come from the event if the call is unknown or contains another payment", () => {
    expect(callOf(settled(9), decodeSettleCall(data))).to.equal(undefined);
    const fields = fieldsOf(settled(2), undefined);
    expect(fields.map(({ name }) => name))
      .to.include.members(["nullifier", "digest"])
      .and.not.include("root");
    expect(fields.every(({ offset }) => offset === undefined)).to.equal(true);
  });

  it("each have an explanation", () => {
    const names = fieldsOf(settled(2), call).map(({ name }) => name);
    expect(names.toSorted()).to.deep.equal(Object.keys(EXPLANATIONS).toSorted());
  });
});
