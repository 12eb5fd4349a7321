// Received payments as CSV, by the rules of the wallet's own export.
import type { Received } from "@sotto/client";
import { paymentsCsv } from "@sotto/client/receipts";
import { formatDecimalAmount } from "@sotto/protocol";
import { DECIMALS } from "../lib/amount.ts";

/** Deposits are left out: the merchant made them. */
export function receivedCsv(received: readonly Received[]): string {
  const payments = received.filter(({ origin }) => origin === "payment");
  return paymentsCsv(
    payments.map(({ transactionHash, leafIndex, amount, confirmed, blockNumber, timestamp }) => ({
      id: `${transactionHash}:${leafIndex}`,
      direction: "in",
      state: confirmed ? "settled" : "pending",
      amount,
      decimal: formatDecimalAmount(amount, DECIMALS),
      recipientWallet: "",
      recipientAddress: "",
      resource: "",
      transaction: transactionHash,
      block: blockNumber,
      begun: "",
      settled: new Date(timestamp * 1000).toISOString(),
    })),
  );
}
