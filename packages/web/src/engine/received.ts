import type { Received } from "@sotto/wallet";

const FIELDS = [
  "leafIndex",
  "transactionHash",
  "blockNumber",
  "timestamp",
  "origin",
  "amount",
  "confirmed",
  "month",
] as const satisfies readonly (keyof Received)[];

/** Whether two lists show the same payments in the same state. A reorganization can replace any of them. */
export function isSameReceived(known: readonly Received[], now: readonly Received[]): boolean {
  return (
    known.length === now.length &&
    known.every((payment, index) => FIELDS.every((field) => payment[field] === now[index]?.[field]))
  );
}
