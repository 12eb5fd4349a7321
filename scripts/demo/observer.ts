// What an observer of the chain learns from transactions: everything here is read from their receipts, nothing else.
import { decodeEvent, type PoolEvent } from "@sotto/client";
import type { TransactionReceipt } from "ethers";
import { usdc } from "./amounts.ts";

/** Payments in one step up to which each is told on its own. */
const FEW = 2;

/** A number or address as it is recognised: its first characters. */
export const short = (value: bigint | string): string => {
  const hex = typeof value === "bigint" ? `0x${value.toString(16).padStart(64, "0")}` : value.toLowerCase();
  return `${hex.slice(0, 10)}..`;
};

/** The pool's events in a transaction. */
export const eventsOf = (pool: string, receipt: TransactionReceipt): PoolEvent[] =>
  receipt.logs
    .filter((log) => log.address.toLowerCase() === pool)
    .map((log) => decodeEvent({ ...log, topics: log.topics, logIndex: log.index }))
    .filter((event) => event !== undefined);

export function observe(pool: string, receipts: readonly TransactionReceipt[]): string[] {
  const events = receipts.flatMap((receipt) => eventsOf(pool, receipt));
  const payments = events.filter(({ type }) => type === "settled").length;
  const told =
    payments > FEW ? [`${payments} notes were spent: whose, by whom, for whom, how much? It is not said`] : [];
  return [...told, ...events.flatMap((event) => (payments > FEW && event.type !== "withdrawn" ? [] : describe(event)))];
}

function describe(event: PoolEvent): string[] {
  switch (event.type) {
    case "deposited":
      return [`${usdc(event.amount)} entered the pool as note ${short(event.commitment)}`];
    case "appended":
      return [`${event.count === 1 ? "1 note" : `${event.count} notes`} joined the tree, root ${short(event.newRoot)}`];
    case "settled":
      return [
        `nullifier ${short(event.nullifier)}: some note was spent`,
        `ciphertext ${short(event.encryptedAmountR)} ${short(event.encryptedAmountC)}`,
        `new notes ${short(event.recipientCommitment)} ${short(event.changeCommitment)}`,
        "no amount, no sender, no recipient, no resource",
      ];
    case "withdrawn": {
      const spent = event.nullifiers.filter((nullifier) => nullifier !== 0n).length;
      const notes = spent === 1 ? "1 note was" : `${spent} notes were`;
      return [
        event.amount === 0n
          ? `${notes} merged into one; nothing left the pool`
          : `${notes} spent: ${usdc(event.amount - event.fee)} to ${short(event.recipient)}, ${usdc(event.fee)} fee to ${short(event.feeRecipient)}`,
        `new note ${short(event.commitment)}; what it holds is not shown`,
      ];
    }
  }
}
