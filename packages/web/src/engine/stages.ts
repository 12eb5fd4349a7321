import type { PurchaseStage } from "@sotto/client";
import type { CashOutStage, FundingStage } from "@sotto/wallet";

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
  token: "Asking the merchant with a prepaid token",
};

/** A stage of a purchase in plain words. */
export const stageText = (stage: PurchaseStage): string => TEXTS[stage];

const FUNDING: Record<FundingStage, string> = {
  signing: "Sign the deposit",
  submitting: "The service accepts the deposit",
  settling: "The relayer sends the transaction",
  confirming: "Waiting for confirmations",
  appending: "The relayer appends your notes to the tree",
  spendable: "Spendable",
};

/** A stage of a deposit in plain words. */
export const fundingText = (stage: FundingStage): string => FUNDING[stage];

const CASH_OUT: Record<CashOutStage, string> = {
  proving: "Proving the withdrawal in this browser",
  submitting: "The service accepts the withdrawal",
  settling: "The relayer sends the transaction",
  confirming: "Looking for it on the chain",
  withdrawn: "Withdrawn",
};

/** A stage of a withdrawal in plain words. */
export const cashOutText = (stage: CashOutStage): string => CASH_OUT[stage];
