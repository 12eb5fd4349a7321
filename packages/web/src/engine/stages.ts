import type { PurchaseStage } from "@sotto/client";

const TEXTS: Record<PurchaseStage, string> = {
  challenge: "Price received",
  recipient: "Merchant's signature checked",
  split: "Preparing notes",
  funds: "Waiting for a spendable note",
  proving: "Proving the payment in this browser",
  verifying: "The service checks the proof",
  settling: "The relayer settles the payment",
  confirming: "Looking for it on the chain",
  paid: "Paid",
  presenting: "Asking the merchant with the proof of payment",
  retrying: "The merchant did not answer; asking again",
  delivered: "Delivered",
};

/** A stage of a purchase in plain words. */
export const stageText = (stage: PurchaseStage): string => TEXTS[stage];
