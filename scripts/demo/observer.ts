// What an observer of the chain learns from a transaction: everything here is read from its receipt, nothing else.
import { decodeEvent, type PoolEvent } from "@sotto/client";
import type { TransactionReceipt } from "ethers";
import { usdc } from "./amounts.ts";
import type { World } from "./world.ts";

/** A number or address as it is recognised: its first characters. */
export const short = (value: bigint | string): string => {
  const hex = typeof value === "bigint" ? `0x${value.toString(16).padStart(64, "0")}` : value.toLowerCase();
  return `${hex.slice(0, 10)}..`;
};

export function observe(world: World, receipt: TransactionReceipt): string[] {
  const events = receipt.logs
    .filter((log) => log.address.toLowerCase() === world.pool)
    .map((log) => decodeEvent({ ...log, topics: log.topics, logIndex: log.index }));
  const seen = events.flatMap((event) => (event === undefined ? [] : describe(event)));
  return [`a transaction from the relayer ${short(receipt.from)} to the pool`, ...seen];
}

function describe(event: PoolEvent): string[] {
  switch (event.type) {
    case "deposited":
      return [`${usdc(event.amount)} entered the pool`, `note ${short(event.commitment)}, leaf ${event.leafIndex}`];
    case "appended":
      return [
        `leaves ${event.startIndex} to ${event.startIndex + event.count - 1} joined the tree`,
        `root ${short(event.newRoot)}`,
      ];
    case "settled":
      return [
        `nullifier ${short(event.nullifier)}: some note was spent`,
        `ciphertext ${short(event.encryptedAmountR)} ${short(event.encryptedAmountC)}`,
        `new notes ${short(event.recipientCommitment)} ${short(event.changeCommitment)}`,
        "no amount, no sender, no recipient, no resource",
      ];
    case "withdrawn":
      return [
        `nullifiers ${event.nullifiers
          .filter((nullifier) => nullifier !== 0n)
          .map(short)
          .join(" ")}`,
        event.amount === 0n
          ? "nothing left the pool: notes were merged"
          : `${usdc(event.amount - event.fee)} to ${short(event.recipient)}, ${usdc(event.fee)} fee to ${short(event.feeRecipient)}`,
        `new note ${short(event.commitment)}; what it holds is not shown`,
      ];
  }
}
