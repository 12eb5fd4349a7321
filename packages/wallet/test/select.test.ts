import { WITHDRAWAL_INPUTS } from "@sotto/protocol";
import { thrown } from "@sotto/test-kit/rejection";
import { splitAmount } from "@sotto/wallet";
import { expect } from "chai";
import { selectMergeNotes, selectPaymentNote, selectWithdrawalNotes } from "../src/wallet/select.ts";

const funds = (amounts: number[], waiting = 0) => ({
  spendable: amounts.map((amount, leafIndex) => ({ leafIndex, amount: BigInt(amount) })),
  waiting: BigInt(waiting),
});
const amounts = (notes: readonly { amount: bigint }[]) => notes.map(({ amount }) => Number(amount));

describe("selection of notes", () => {
  it("selects the smallest sufficient note", () => {
    expect(selectPaymentNote(funds([50, 7, 20, 9]), 8n).amount).to.equal(9n);
    expect(selectPaymentNote(funds([50, 7, 20, 9]), 9n).amount).to.equal(9n);
    expect(selectPaymentNote(funds([9, 9]), 9n).leafIndex).to.equal(0);
  });

  it("reports the missing amount, with pending notes counted as available", () => {
    const error = thrown(() => selectPaymentNote(funds([5, 6], 4), 20n));
    expect(error).to.include({ code: "INSUFFICIENT_FUNDS" });
    expect(error.details).to.include({ missing: "5", needed: "20", available: "15" });
    expect(thrown(() => selectWithdrawalNotes(funds([]), 1n)).details).to.include({ missing: "1" });
  });

  it("distinguishes notes that need to wait from notes that need a merge", () => {
    expect(thrown(() => selectPaymentNote(funds([5, 6], 10), 15n)).code).to.equal("FUNDS_NOT_READY");
    expect(thrown(() => selectPaymentNote(funds([5, 6], 10), 11n)).code).to.equal("MERGE_REQUIRED");
    expect(thrown(() => selectPaymentNote(funds([], 10), 5n)).code).to.equal("FUNDS_NOT_READY");
  });

  it("withdraws from the smallest eight notes that suffice", () => {
    const many = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100];
    expect(amounts(selectWithdrawalNotes(funds(many), 10n))).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(amounts(selectWithdrawalNotes(funds(many), 40n))).to.deep.equal([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(amounts(selectWithdrawalNotes(funds(many), 142n))).to.deep.equal([3, 4, 5, 6, 7, 8, 9, 100]);
    expect(thrown(() => selectWithdrawalNotes(funds(many), 143n)).code).to.equal("MERGE_REQUIRED");
    expect(thrown(() => selectWithdrawalNotes(funds(many), 146n)).code).to.equal("INSUFFICIENT_FUNDS");
    expect(amounts(selectWithdrawalNotes(funds([3]), 3n))).to.deep.equal([3]);
  });

  it("merges the smallest eight notes that reach the target, else the largest eight", () => {
    const tens = Array(12).fill(10);
    expect(selectMergeNotes(funds(tens), 0n, 75n)).to.have.length(WITHDRAWAL_INPUTS);
    expect(amounts(selectMergeNotes(funds([...tens, 30]), 1n, 110n))).to.deep.equal([10, 10, 10, 10, 10, 10, 10, 30]);
    expect(amounts(selectMergeNotes(funds([1, 2, 3]), 0n))).to.deep.equal([1, 2, 3]);
    expect(thrown(() => selectMergeNotes(funds([5]), 0n)).code).to.equal("FUNDS_NOT_READY");
    expect(thrown(() => selectMergeNotes(funds([5, 5]), 10n)).code).to.equal("INSUFFICIENT_FUNDS");
  });

  it("reaches any amount that the funds allow by repeated merges", () => {
    for (let total = 1; total <= 60; total += 1) {
      let notes = Array.from({ length: total }, (_, leafIndex) => ({ leafIndex, amount: BigInt(1 + (leafIndex % 3)) }));
      const target = notes.reduce((sum, { amount }) => sum + amount, 0n);
      let merges = 0;
      while (!notes.some(({ amount }) => amount >= target)) {
        const merged = selectMergeNotes({ spendable: notes, waiting: 0n }, 0n, target);
        const amount = merged.reduce((sum, note) => sum + note.amount, 0n);
        notes = [...notes.filter((note) => !merged.includes(note)), { leafIndex: 100 + merges, amount }];
        merges += 1;
        expect(merges).to.be.at.most(Math.ceil(total / (WITHDRAWAL_INPUTS - 1)));
      }
    }
  });

  it("splits an amount into nearly equal notes without losing a unit", () => {
    expect(splitAmount(10n, 3)).to.deep.equal([4n, 3n, 3n]);
    expect(splitAmount(9n, 3)).to.deep.equal([3n, 3n, 3n]);
    expect(splitAmount(7n, 1)).to.deep.equal([7n]);
    for (const notes of [0, -1, 1.5, 65]) expect(thrown(() => splitAmount(10n, notes)).code).to.equal("INVALID_OPTION");
    expect(thrown(() => splitAmount(2n, 3)).code).to.equal("INVALID_OPTION");
    expect(thrown(() => splitAmount(-2n, 1)).code).to.equal("INVALID_AMOUNT");
  });
});
