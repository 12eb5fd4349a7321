/**
 * challenge: a 402 was read. recipient: its recipient was checked. split: notes are being split for parallel payments.
 * funds: the wallet waits for a spendable note. proving. verifying: the service checks the proof. settling. confirming:
 * the wallet looks for the payment on chain. paid. presenting: the request is sent with its proof. retrying: it is sent
 * again with the same proof. delivered: the server answered. token: another method sends the request with a token; no
 * other stage follows.
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
  | "delivered"
  | "token";

/** A stage that a purchase has reached. */
export interface PurchaseProgress {
  stage: PurchaseStage;
  resourceUrl: string;
  /** Base units. */
  price: bigint;
  /** Hash of the transaction, from stage `paid` on. */
  txSignature?: string | undefined;
  /** At stage `token`: the name of the method that sends the request. */
  method?: string | undefined;
}

/** Called at each stage of a purchase. */
export type OnProgress = (progress: PurchaseProgress) => void;
