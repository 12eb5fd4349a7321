import type { SettledEvent } from "@sotto/chain";

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
  blinding: bigint;
  commitment: bigint;
  /** Undefined in a viewing wallet, which cannot compute it. */
  nullifier: bigint | undefined;
  origin: NoteOrigin;
  blockNumber: number;
  /** Time of its block, seconds. Stored, because a later request for one block would reveal it to the node. */
  timestamp: number;
  transactionHash: string;
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
  leafIndex: number;
  nullifier: bigint;
  /** keccak256 of the public signals of the payment or withdrawal that spent it. */
  digest: string;
  /** The kind of operation that spent it. */
  by: "payment" | "withdrawal";
  blockNumber: number;
  /** Time of its block, seconds. */
  timestamp: number;
  transactionHash: string;
  /** Undefined unless a payment spent the note. */
  shown: Shown | undefined;
}

/** The effect of an event on a wallet. */
export interface Findings {
  notes: FoundNote[];
  spends: FoundSpend[];
}
