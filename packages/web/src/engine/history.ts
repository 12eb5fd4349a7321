// The wallet's history, in the form that the page shows.
import { openPurchases } from "@sotto/client";
import type { PrepaidCharge } from "@sotto/prepaid/client";
import type { Wallet } from "@sotto/wallet";
import { failureOf } from "../errors.ts";
import { DECIMALS } from "../lib/amount.ts";
import { type HistoryEntry, NO_MONTH, type UnfinishedPayment } from "./api.ts";
import { phoneKeyOf } from "./phone.ts";

/** Newest first. Payments that the wallet made, notes that it received, deposits, withdrawals, merges and charges. */
export async function historyOf(wallet: Wallet, charges: readonly PrepaidCharge[]): Promise<HistoryEntry[]> {
  const statuses = new Map(wallet.history().map((status) => [status.id, status]));
  const payments = (await wallet.payments({ decimals: DECIMALS })).map(
    (entry): HistoryEntry => ({
      id: entry.id,
      kind: entry.direction === "out" ? "payment" : "received",
      state: entry.state,
      amount: entry.amount,
      at: Date.parse(entry.begun || entry.settled),
      counterparty: entry.recipientWallet,
      resource: entry.resource,
      transaction: entry.transaction,
      block: entry.block,
      digest: statuses.get(entry.id)?.digest,
      month: entry.month,
      isOutsideMonth: entry.outsideMonth,
    }),
  );
  return [...payments, ...charges.map(chargeOf), ...depositsOf(wallet), ...withdrawalsOf(wallet)].sort(
    (a, b) => b.at - a.at,
  );
}

const chargeOf = ({ id, at, wallet, origin, target, charge }: PrepaidCharge): HistoryEntry => ({
  id,
  kind: "charge",
  state: "prepaid",
  amount: charge,
  at,
  counterparty: wallet,
  resource: origin + target,
  transaction: "",
  block: undefined,
  digest: undefined,
  ...NO_MONTH,
});

/** One entry for all notes of a transaction. */
function depositsOf(wallet: Wallet): HistoryEntry[] {
  const entries = new Map<string, HistoryEntry>();
  for (const note of wallet.notes()) {
    if (note.origin !== "deposit") continue;
    const { transactionHash: transaction, timestamp, blockNumber: block, amount } = note;
    const sum = amount + (entries.get(transaction)?.amount ?? 0n);
    entries.set(transaction, {
      id: transaction,
      kind: "deposit",
      state: note.state === "pending" ? "pending" : "settled",
      amount: sum,
      at: timestamp * 1000,
      counterparty: "",
      resource: "",
      transaction,
      block,
      digest: undefined,
      ...NO_MONTH,
    });
  }
  return [...entries.values()];
}

function withdrawalsOf(wallet: Wallet): HistoryEntry[] {
  return wallet
    .history()
    .filter(({ kind }) => kind === "withdrawal")
    .map(({ id, state, amount, created, transactionHash = "", blockNumber, digest }) => {
      const proof = wallet.proofOf(id);
      const recipient = proof !== undefined && "withdraw" in proof ? proof.withdraw.recipient : "";
      return {
        id,
        kind: amount === 0n ? "merge" : "withdrawal",
        state,
        amount,
        at: created,
        counterparty: amount === 0n ? "" : recipient,
        resource: "",
        transaction: state === "settled" ? transactionHash : "",
        block: state === "settled" ? blockNumber : undefined,
        digest,
        ...NO_MONTH,
      };
    });
}

export async function unfinishedOf(wallet: Wallet): Promise<UnfinishedPayment[]> {
  const purchases = await openPurchases(wallet);
  return Promise.all(
    purchases.map(async ({ id, created, price, recipient, resourceUrl, state, problem }) => ({
      id,
      created,
      price,
      recipient,
      resource: resourceUrl,
      state,
      problem: problem === undefined ? undefined : failureOf(problem),
      resumable: /^https?:/.test(resourceUrl) || (await phoneKeyOf(wallet, resourceUrl)) !== undefined,
    })),
  );
}
