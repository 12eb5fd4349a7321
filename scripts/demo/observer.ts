// What an observer of the chain learns from transactions: everything here is read from their receipts, nothing else.
import { decodeEvent, type PoolEvent } from "@sotto/client";
import { id, type TransactionReceipt } from "ethers";
import { usdc } from "./amounts.ts";

/** Payments in one step up to which each is told on its own. */
const FEW = 2;
const TRANSFER = id("Transfer(address,address,uint256)");

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
  const events = receipts.map((receipt) => eventsOf(pool, receipt));
  const settling = events.filter((found) => found.some(({ type }) => type === "settled"));
  const payments = settling.flat().filter(({ type }) => type === "settled").length;
  if (payments <= FEW) return receipts.flatMap((receipt, index) => describe(receipt, events[index] ?? []));
  const appended = events.flat().reduce((sum, event) => (event.type === "appended" ? sum + event.count : sum), 0);
  return [
    `${payments} times some note was spent, in ${settling.length} transactions`,
    `${appended} notes joined the tree`,
    "no amount, no sender, no recipient, no resource; nothing links two of them",
  ];
}

function describe(receipt: TransactionReceipt, events: readonly PoolEvent[]): string[] {
  const deposited = events.filter((event) => event.type === "deposited");
  if (deposited.length === 0) return events.flatMap(describeEvent);
  const total = deposited.reduce((sum, { amount }) => sum + amount, 0n);
  return [
    `${usdc(total)} of ${short(depositorIn(receipt))} entered the pool in ${deposited.length} notes: deposits are public`,
  ];
}

/** The token says in the same transaction whose it was. */
function depositorIn({ logs }: TransactionReceipt): string {
  const transfer = logs.find(({ topics }) => topics[0] === TRANSFER);
  return `0x${transfer?.topics[1]?.slice(-40)}`;
}

function describeEvent(event: PoolEvent): string[] {
  switch (event.type) {
    case "deposited":
      return [];
    case "appended":
      return [`${event.count === 1 ? "1 note" : `${event.count} notes`} joined the tree, root ${short(event.newRoot)}`];
    case "settled":
      return [
        `nullifier ${short(event.nullifier)}: some note was spent`,
        `ciphertext ${short(event.ephemeralX)} ${short(event.hiddenCipherX)}`,
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
