// Received payments as CSV, in the format of the wallet's own export.
import type { Received } from "@sotto/wallet";
import { paymentsCsv, receivedEntry } from "@sotto/wallet/receipts";
import { DECIMALS } from "../lib/amount.ts";

/** Deposits are omitted, because the merchant made them. */
export function receivedCsv(received: readonly Received[]): string {
  const payments = received.filter(({ origin }) => origin === "payment");
  return paymentsCsv(payments.map((payment) => receivedEntry(payment, DECIMALS)));
}
