import type { SettledEvent } from "@sotto/chain";
import type { Month } from "@sotto/protocol";

/** How the wallet received a note. */
export type NoteOrigin = "deposit" | "payment" | "change" | "output";

/** A note of the wallet, found on chain. */
export interface FoundNote {
  /** Its unique index in the tree. */
  leafIndex: number;
  /** Token base units. */
  amount: bigint;
  /** Index of the spending key that owns it; 0 is the key of the shielded address. */
  keyIndex: number;
  /** Random part of the commitment. */
  blinding: bigint;
  /** The leaf in the tree. */
  commitment: bigint;
  /** Undefined in a viewing wallet, which cannot compute it. */
  nullifier: bigint | undefined;
  /** How the wallet received it. */
  origin: NoteOrigin;
  /** Of a payment: the month of the paid address; of change: the month of its key. Default: none, for the lasting one. */
  month?: Month | undefined;
  /** Number of the block that settled it. */
  blockNumber: number;
  /** Time of its block, seconds. Stored, because a later request for one block would reveal it to the node. */
  timestamp: number;
  /** Hash of its transaction. */
  transactionHash: string;
  /** Index of its event in the block. */
  logIndex: number;
}

const SHOWN = [
  "ephemeralX",
  "hiddenCipherX",
  "amountHint",
  "changeHint",
  "recipientCommitment",
  "changeCommitment",
] as const satisfies readonly (keyof SettledEvent)[];

/**
 * The public values of a payment, stored so that a receipt needs no request to a node, which would reveal the payment.
 */
export type Shown<T = bigint> = Record<(typeof SHOWN)[number], T>;

export function mapShown<T, U>(shown: Shown<T>, map: (word: T) => U): Shown<U> {
  return Object.fromEntries(SHOWN.map((name) => [name, map(shown[name])])) as Shown<U>;
}

/** A spend of one of the wallet's notes, found on chain. */
export interface FoundSpend {
  /** Leaf index of the spent note. */
  leafIndex: number;
  /** Nullifier of the spent note. */
  nullifier: bigint;
  /** keccak256 of the public signals of the payment or withdrawal that spent it. */
  digest: string;
  /** The kind of operation that spent it. */
  by: "payment" | "withdrawal";
  /** Number of the block that spent it. */
  blockNumber: number;
  /** Time of its block, seconds. */
  timestamp: number;
  /** Hash of the transaction that spent it. */
  transactionHash: string;
  /** Undefined unless a payment spent the note. */
  shown: Shown | undefined;
}

/** The effect of an event on a wallet. */
export interface Findings {
  /** Notes that the wallet received. */
  notes: FoundNote[];
  /** Notes of the wallet that were spent. */
  spends: FoundSpend[];
}
