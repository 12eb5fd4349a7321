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
  transactionHash: string;
  logIndex: number;
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
  transactionHash: string;
}

/** What an event meant to a wallet. */
export interface Findings {
  notes: FoundNote[];
  spends: FoundSpend[];
}
