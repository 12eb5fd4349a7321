/**
 * challenge: a 402 answer was read. recipient: its recipient is checked. split: notes are made for payments in parallel.
 * funds: the wallet waits for a note. proving. verifying: the service looks at the proof. settling. confirming: the chain
 * is looked at. paid. presenting: the request goes out with its proof. retrying: once more, with the same proof.
 * delivered: the server has answered it.
 */
export type PurchaseStage =
  | "challenge"
  | "recipient"
  | "split"
  | "funds"
  | "proving"
  | "verifying"
  | "settling"
  | "confirming"
  | "paid"
  | "presenting"
  | "retrying"
  | "delivered";

export interface PurchaseProgress {
  stage: PurchaseStage;
  /** What is bought. */
  resourceUrl: string;
  /** Base units. */
  price: bigint;
  /** From `paid` on: the transaction. */
  txSignature?: string;
}

export type OnProgress = (progress: PurchaseProgress) => void;
