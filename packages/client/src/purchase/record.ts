import type { WireBundle } from "@sotto/protocol";

/** What is bought, from whom and through which service. Numbers that may pass 2^53 are decimal. */
export interface PurchaseTerms {
  recipient: { wallet: string; shieldedAddress: string };
  /** Base units. */
  price: string;
  resourceUrl: string;
  /** Base address of the service. */
  service: string;
}

/** An attempt whose proof may have been handed to the service for settlement: only such a one can be on chain. */
export interface SentAttempt {
  /** Id of its payment in the wallet. */
  payment: string;
  /** keccak256 of its public signals. */
  digest: string;
  bundle: WireBundle;
  token: string;
}

/** Why a paid purchase waits for a decision of its owner. */
export interface Problem {
  code: "PAID_BUT_STALE" | "PAID_BUT_REFUSED";
  message: string;
  /** The server's own words, where it has said something. */
  reason: string;
  /** Its status, 0 where there was none. */
  status: number;
}

/** A purchase as it stands in the wallet's store, written before each step is taken. */
export interface PurchaseRecord extends PurchaseTerms {
  /** Hash of its key, 32 hex digits: also the id of its payment in the wallet. */
  id: string;
  /** Hash of the request it is for: purchases of equal requests are found by it. */
  request: string;
  /** Milliseconds. */
  created: number;
  /** What its price counts against; null where no limits are kept. */
  reserved: { day: string; host: string } | null;
  /** Payments it made, by id in the wallet; the last is the one that counts. More than one only where one had failed. */
  payments: string[];
  sent: SentAttempt[];
  /** The attempt that the chain has. */
  settled: { digest: string; txSignature: string } | null;
  /** Characters of a proof header that the server takes; left out: the most that any server takes. */
  headerLimit?: number;
  /** How often its proof was handed out to be shown. */
  shown: number;
  problem: Problem | null;
}

/** A purchase that is over: what a second one with its key is told. */
export interface FinishedRecord extends PurchaseTerms {
  id: string;
  created: number;
  payments: string[];
  settled: { digest: string; txSignature: string };
}
