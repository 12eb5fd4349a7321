import type { PoolEvent } from "@sotto/chain";
import { expect } from "chai";
import { HOUR, PoolHistory } from "../src/engine/pool-history.ts";
import { toBytes32 } from "../src/lib/bytes32.ts";

const START = 1_800_000 * HOUR;

const place = (blockNumber: number, transaction = blockNumber) => ({
  blockNumber,
  blockHash: toBytes32(BigInt(blockNumber)),
  transactionHash: toBytes32(0xabc000n + BigInt(transaction)),
  logIndex: 0,
  timestamp: START + blockNumber * 60,
});

const deposit = (blockNumber: number, leafIndex: number): PoolEvent => ({
  ...place(blockNumber),
  type: "deposited",
  ownerTag: 7n,
  amount: 5_000_000n,
  commitment: 0x1000n + BigInt(leafIndex),
  leafIndex,
});

const append = (blockNumber: number, startIndex: number, count: number): PoolEvent => ({
  ...place(blockNumber),
  type: "appended",
  newRoot: 0x2000n + BigInt(startIndex),
  startIndex,
  count,
});

const payment = (blockNumber: number, leafIndex: number, transaction?: number): PoolEvent => ({
  ...place(blockNumber, transaction),
  type: "settled",
  nullifier: 0x3000n + BigInt(leafIndex),
  digest: toBytes32(0x4000n + BigInt(leafIndex)),
  ephemeralX: 1n,
  hiddenCipherX: 2n,
  amountHint: 3n,
  changeHint: 4n,
  recipientCommitment: 0x1000n + BigInt(leafIndex),
  changeCommitment: 0x1001n + BigInt(leafIndex),
  leafIndex,
});

/** Three deposits, an append, two payments in one transaction of the next hour. */
const EVENTS = [deposit(1, 0), deposit(1, 1), deposit(2, 2), append(3, 0, 3), payment(61, 3, 100), payment(61, 5, 100)];

function historyOf(events: readonly PoolEvent[]): PoolHistory {
  const history = new PoolHistory();
  history.add(events);
  return history;
}

describe("the pool's history", () => {
  it("counts notes, nullifiers and kinds of events", () => {
    const { notes, inTree, spent, deposits, payments, appends, transactions } = historyOf(EVENTS).summary();
    expect({ notes, inTree, spent, deposits, payments, appends, transactions }).to.deep.equal({
      notes: 7,
      inTree: 3,
      spent: 2,
      deposits: 3,
      payments: 2,
      appends: 1,
      // Deposits of one block have one transaction here.
      transactions: 4,
    });
  });

  it("shows the amounts of deposits, but not of payments", () => {
    const rows = historyOf(EVENTS).notes(0, 100);
    expect(rows.map(({ origin }) => origin)).to.deep.equal([
      ...["deposit", "deposit", "deposit"],
      ...["payment", "change", "payment", "change"],
    ]);
    expect(rows.map(({ amount }) => amount)).to.deep.equal([5_000_000n, 5_000_000n, 5_000_000n, ...Array(4)]);
    expect(rows.map(({ inTree }) => inTree)).to.deep.equal([true, true, true, false, false, false, false]);
    expect(rows.map(({ commitment }) => commitment)).to.deep.equal(rows.map((_, i) => 0x1000n + BigInt(i)));
  });

  it("reports how many notes each payment may have spent", () => {
    const [newest] = historyOf(EVENTS).transactions(0, 1);
    expect(newest?.events.map(({ crowd }) => crowd)).to.deep.equal([
      { notesBefore: 3, spentBefore: 0 },
      { notesBefore: 3, spentBefore: 1 },
    ]);
  });

  it("lists transactions newest first, and finds one by its hash in any case", () => {
    const history = historyOf(EVENTS);
    expect(history.transactions(1, 2).map(({ blockNumber }) => blockNumber)).to.deep.equal([3, 2]);
    const hash = EVENTS[3]!.transactionHash;
    expect(history.transaction(hash.toUpperCase().replace("0X", "0x"))?.blockNumber).to.equal(3);
    expect(history.transaction(toBytes32(1n))).to.equal(undefined);
  });

  it("begins a checkpoint when the time of the block changes and after 32 leaves", () => {
    const payments = Array.from({ length: 40 }, (_, i) => payment(1, 2 * i));
    const sameTime = { ...deposit(2, 80), timestamp: place(1).timestamp };
    const { checkpoints } = historyOf([...payments, sameTime, deposit(3, 81)]).summary();
    expect(checkpoints.map(({ start, leaves, timestamp }) => [start, leaves, timestamp])).to.deep.equal([
      [0, 32, place(1).timestamp],
      [32, 32, place(1).timestamp],
      [64, 17, place(1).timestamp],
      [81, 1, place(3).timestamp],
    ]);
  });

  it("counts by hour, and includes hours without events", () => {
    const hours = historyOf(EVENTS).hours(3, START + HOUR + 60);
    expect(hours.map(({ start, notes, nullifiers }) => [start, notes, nullifiers])).to.deep.equal([
      [START - HOUR, 0, 0],
      [START, 3, 0],
      [START + HOUR, 4, 2],
    ]);
  });

  it("counts the payments of each settling transaction", () => {
    const settlements = historyOf([...EVENTS, payment(62, 7)]).settlements(10);
    expect(settlements.map(({ payments, blockNumber }) => [payments, blockNumber])).to.deep.equal([
      [2, 61],
      [1, 62],
    ]);
    expect(historyOf([...EVENTS, payment(62, 7)]).settlements(1)).to.have.lengthOf(1);
  });

  it("is the same after a reorganization as if the removed blocks had never existed", () => {
    const history = historyOf(EVENTS);
    expect(history.rollBack(3)).to.equal(true);
    expect(history.rollBack(3)).to.equal(false);
    const other = payment(50, 3);
    history.add([other]);
    const fresh = historyOf([...EVENTS.slice(0, 4), other]);
    expect(history.summary()).to.deep.equal(fresh.summary());
    expect(history.notes(0, 10)).to.deep.equal(fresh.notes(0, 10));
    expect(history.hours(4, START + HOUR)).to.deep.equal(fresh.hours(4, START + HOUR));
    expect(history.transaction(EVENTS[4]!.transactionHash)).to.equal(undefined);
  });

  describe("search", () => {
    const history = historyOf(EVENTS);
    const kinds = (text: string, limit = 10) => history.search(text, limit).hits.map(({ kind }) => kind);

    it("finds whole values", () => {
      expect(kinds(toBytes32(0x3005n))).to.deep.equal(["nullifier"]);
      expect(kinds(toBytes32(0x2000n))).to.deep.equal(["root"]);
      expect(kinds(toBytes32(0x4003n))).to.deep.equal(["digest"]);
      expect(history.search(toBytes32(0x1006n), 10).hits[0]).to.include({ kind: "note", leafIndex: 6 });
    });

    it("finds a leaf index, a decimal value, and hexadecimal without 0x", () => {
      expect(history.search("4", 10).hits[0]).to.include({ kind: "note", value: toBytes32(0x1004n) });
      expect(kinds("7")).to.deep.equal([]);
      expect(kinds(String(2n ** 200n))).to.deep.equal([]);
      expect(kinds(toBytes32(0x3005n).slice(2).toUpperCase())).to.deep.equal(["nullifier"]);
    });

    it("shows a transaction with several events once", () => {
      expect(kinds(EVENTS[4]!.transactionHash)).to.deep.equal(["transaction"]);
    });

    it("returns the newest hits up to its limit, and reports that there are more", () => {
      const { hits, more } = history.search("0x000", 3);
      expect(hits).to.have.lengthOf(3);
      expect(more).to.equal(true);
      expect(hits[0]?.blockNumber).to.equal(61);
    });

    for (const text of ["", "  ", "0x", "zz", "0xg00", "1".repeat(81), `0x${"f".repeat(65)}`])
      it(`finds nothing for ${JSON.stringify(text.slice(0, 12))}`, () => {
        expect(history.search(text, 10)).to.deep.equal({ hits: [], more: false });
      });
  });
});
