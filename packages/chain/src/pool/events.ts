import { decodeLog, type EventLog } from "./codec.ts";

/** Position of an event on the chain. */
export interface EventPosition {
  /** Height of its block. */
  blockNumber: number;
  /** 32 bytes, hex with 0x. */
  blockHash: string;
  /** 32 bytes, hex with 0x. */
  transactionHash: string;
  /** Position among all logs of its block, from 0. */
  logIndex: number;
  /** Time of its block, seconds; 0 if the log does not include it. */
  timestamp: number;
}

/** A note was deposited. Its owner tag and amount are public, and its blinding derives from the leaf index. */
export interface DepositedEvent extends EventPosition {
  type: "deposited";
  /** Owner tag of the note, 1 to p - 1. */
  ownerTag: bigint;
  /** Base units of the token, from the smallest deposit of the pool to 2^64 - 1. */
  amount: bigint;
  /** Commitment of the note, a field element. */
  commitment: bigint;
  /** Index of the note in the tree, 0 to 2^30 - 1. */
  leafIndex: number;
}

/** A payment was settled. The recipient's note is at `leafIndex`, and the change note is the next leaf. */
export interface SettledEvent extends EventPosition {
  type: "settled";
  /** Nullifier of the spent note, a field element. */
  nullifier: bigint;
  /** keccak256 of the public signals, 32 bytes, hex with 0x. With the nullifier it identifies the payment. */
  digest: string;
  /** x of R, the ciphertext's first point. */
  ephemeralX: bigint;
  /** x of C plus the sender commitment, mod p, so that an observer cannot test amounts. */
  hiddenCipherX: bigint;
  /** pad + amount, mod p. The recipient's viewing key gives the pad. */
  amountHint: bigint;
  /** Change pad + change, mod p. The payer's change key gives the pad. */
  changeHint: bigint;
  /** Commitment of the recipient's note, a field element. */
  recipientCommitment: bigint;
  /** Commitment of the payer's change note, a field element. */
  changeCommitment: bigint;
  /** Index of the recipient's note in the tree, 0 to 2^30 - 2. */
  leafIndex: number;
}

/** Notes were merged or withdrawn. An unused nullifier is 0. */
export interface WithdrawnEvent extends EventPosition {
  type: "withdrawn";
  /** The account that received `amount - fee`, 20 bytes, hex with 0x. */
  recipient: string;
  /** keccak256 of the thirteen signals, 32 bytes, hex with 0x. */
  digest: string;
  /** Nullifiers of the spent notes: eight field elements, the first never 0. */
  nullifiers: readonly bigint[];
  /** Base units that left the pool, with the fee; equal to `fee` in a merge. */
  amount: bigint;
  /** Base units that `feeRecipient` received, 0 to `amount`. */
  fee: bigint;
  /** The account that received `fee`, 20 bytes, hex with 0x; any if `fee` is 0. */
  feeRecipient: string;
  /** Last second in which it could be executed; Unix time. */
  validUntil: bigint;
  /** Pad + amount of the output note, mod p; 0 if there is none. */
  changeHint: bigint;
  /** Commitment of the output note; 0 if there is none. */
  commitment: bigint;
  /** Index of the output note in the tree; 0 if there is none, so check `commitment` first. */
  leafIndex: number;
}

/** Leaves `startIndex` to `startIndex + count - 1` are in the tree, whose root is now `newRoot`. */
export interface AppendedEvent extends EventPosition {
  type: "appended";
  /** A field element. Proofs on this root are accepted from now on. */
  newRoot: bigint;
  /** Number of leaves in the tree before the append. */
  startIndex: number;
  /** 1 to 64. */
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
