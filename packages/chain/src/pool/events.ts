import { decodeLog, type EventLog } from "./codec.ts";

/** Position of an event on the chain. */
export interface EventPosition {
  blockNumber: number;
  blockHash: string;
  transactionHash: string;
  logIndex: number;
  /** Time of its block, seconds; 0 if the log does not include it. */
  timestamp: number;
}

/** A note was deposited. Its owner tag and amount are public, and its blinding derives from the leaf index. */
export interface DepositedEvent extends EventPosition {
  type: "deposited";
  ownerTag: bigint;
  amount: bigint;
  commitment: bigint;
  leafIndex: number;
}

/** A payment was settled. The recipient's note is at `leafIndex`, and the change note is the next leaf. */
export interface SettledEvent extends EventPosition {
  type: "settled";
  nullifier: bigint;
  /** keccak256 of the ten public signals. */
  digest: string;
  /** x of R. */
  ephemeralX: bigint;
  /** x of C, hidden by the sender commitment. */
  hiddenCipherX: bigint;
  amountHint: bigint;
  changeHint: bigint;
  recipientCommitment: bigint;
  changeCommitment: bigint;
  leafIndex: number;
}

/** Notes were merged or withdrawn. An unused nullifier is 0. */
export interface WithdrawnEvent extends EventPosition {
  type: "withdrawn";
  recipient: string;
  digest: string;
  nullifiers: readonly bigint[];
  amount: bigint;
  fee: bigint;
  feeRecipient: string;
  /** Seconds. */
  validUntil: bigint;
  changeHint: bigint;
  /** Commitment of the output note; 0 if there is none. */
  commitment: bigint;
  leafIndex: number;
}

/** Leaves `startIndex` to `startIndex + count - 1` are in the tree, whose root is now `newRoot`. */
export interface AppendedEvent extends EventPosition {
  type: "appended";
  newRoot: bigint;
  startIndex: number;
  count: number;
}

/** An event of the pool that changes its notes. */
export type PoolEvent = DepositedEvent | SettledEvent | WithdrawnEvent | AppendedEvent;

/** The event of a log of the pool; undefined for events that change no note (a skipped payment). @throws ChainError POOL_MISMATCH */
export function decodeEvent(log: EventLog): PoolEvent | undefined {
  const fields = decodeLog(log);
  if (fields === undefined) return undefined;
  const { blockNumber, blockHash, transactionHash, logIndex, timestamp = 0 } = log;
  const position = { blockNumber, blockHash, transactionHash, logIndex, timestamp };
  const { name, number, numbers, hex } = fields;
  switch (name) {
    case "Deposited":
      return {
        ...position,
        type: "deposited",
        ownerTag: number("ownerTag"),
        amount: number("amount"),
        commitment: number("commitment"),
        leafIndex: Number(number("leafIndex")),
      };
    case "Settled":
      return {
        ...position,
        type: "settled",
        nullifier: number("nullifier"),
        digest: hex("digest", 32),
        ephemeralX: number("ephemeralX"),
        hiddenCipherX: number("hiddenCipherX"),
        amountHint: number("amountHint"),
        changeHint: number("changeHint"),
        recipientCommitment: number("recipientCommitment"),
        changeCommitment: number("changeCommitment"),
        leafIndex: Number(number("leafIndex")),
      };
    case "Withdrawn":
      return {
        ...position,
        type: "withdrawn",
        recipient: hex("recipient", 20),
        digest: hex("digest", 32),
        nullifiers: numbers("nullifiers"),
        amount: number("amount"),
        fee: number("fee"),
        feeRecipient: hex("feeRecipient", 20),
        validUntil: number("validUntil"),
        changeHint: number("changeHint"),
        commitment: number("commitment"),
        leafIndex: Number(number("leafIndex")),
      };
    case "Appended": {
      const [startIndex, count] = [Number(number("startIndex")), Number(number("count"))];
      return { ...position, type: "appended", newRoot: number("newRoot"), startIndex, count };
    }
    default:
      return undefined;
  }
}

/** The commitments that an event adds to the queue. The first one has the index `event.leafIndex`. */
export function queuedLeaves(event: PoolEvent): readonly bigint[] {
  switch (event.type) {
    case "deposited":
      return [event.commitment];
    case "withdrawn":
      return event.commitment === 0n ? [] : [event.commitment];
    case "settled":
      return [event.recipientCommitment, event.changeCommitment];
    case "appended":
      return [];
  }
}
