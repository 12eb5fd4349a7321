import type { SettledEvent } from "@sotto/chain";

/** How a note came to the wallet. */
export type NoteOrigin = "deposit" | "payment" | "change" | "output";

/** A note of the wallet, as the chain showed it. */
export interface FoundNote {
  /** Its place in the tree; no two notes share it. */
  leafIndex: number;
  /** Token base units. */
  amount: bigint;
  /** Index of the spending key that owns it; 0 is the shielded address's. */
  keyIndex: number;
  blinding: bigint;
  commitment: bigint;
  /** Undefined in a view-only wallet, which cannot compute it. */
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

/** What a payment showed. Receipts are made of it, without asking a node, which would learn of which payment. */
export type Shown<T = bigint> = Record<(typeof SHOWN)[number], T>;

export function mapShown<T, U>(shown: Shown<T>, map: (word: T) => U): Shown<U> {
  return Object.fromEntries(SHOWN.map((name) => [name, map(shown[name])])) as Shown<U>;
}

/** A note of the wallet that the chain showed as spent. */
export interface FoundSpend {
  leafIndex: number;
  nullifier: bigint;
  /** keccak256 of the public signals of the payment or withdrawal that spent it. */
  digest: string;
  /** What spent it. */
  by: "payment" | "withdrawal";
  blockNumber: number;
  /** Time of its block, seconds. */
  timestamp: number;
  transactionHash: string;
  /** Of a payment. */
  shown: Shown | undefined;
}

/** What an event meant to a wallet. */
export interface Findings {
  notes: FoundNote[];
  spends: FoundSpend[];
}
