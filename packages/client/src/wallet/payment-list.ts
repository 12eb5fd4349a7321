import { formatDecimalAmount } from "@sotto/protocol";
import type { WalletCore } from "./core.ts";
import { type PaymentState, statusOf } from "./state.ts";

/** A payment that the wallet made or received. */
export interface PaymentEntry {
  /** Id in the journal; TRANSACTION:LEAF for an incoming payment. */
  id: string;
  direction: "out" | "in";
  /** An incoming payment is `pending` until it has its confirmations, then `settled`. */
  state: PaymentState | "pending";
  /** Base units. */
  amount: bigint;
  /** The amount as a decimal of the token. */
  decimal: string;
  /** The recipient; "" for an incoming payment, because the chain does not show the payer. */
  recipientWallet: string;
  recipientAddress: string;
  /** The resource; "" for an incoming payment, because only the payer's bundle has it. */
  resource: string;
  /** The settling transaction and its block; "" and undefined until then. */
  transaction: string;
  block: number | undefined;
  /** When it was begun, ISO 8601; "" for an incoming payment. */
  begun: string;
  /** Time of the settling block, ISO 8601; "" until then. */
  settled: string;
}

export interface PaymentsOptions {
  /** Decimals of the token, 0 to 77. */
  decimals: number;
  direction?: "out" | "in" | undefined;
}

type Entry = Omit<PaymentEntry, "decimal">;

/**
 * All payments of a wallet as of the last scan, oldest first. Outgoing ones come from the journal, which a wallet restored
 * from its seed lacks. Incoming ones come from the chain. The node is not queried, because it would learn their blocks.
 */
export async function paymentEntries(core: WalletCore, options: PaymentsOptions): Promise<PaymentEntry[]> {
  const entries = [
    ...(options.direction === "in" ? [] : outgoing(core)),
    ...(options.direction === "out" ? [] : incoming(core)),
  ];
  return entries
    .map((entry) => ({ ...entry, decimal: formatDecimalAmount(entry.amount, options.decimals) }))
    .sort((a, b) => compare(a.begun || a.settled, b.begun || b.settled));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function timeOf(timestamp: number | undefined): string {
  return timestamp === undefined ? "" : new Date(timestamp * 1000).toISOString();
}

function outgoing({ journal, view }: WalletCore): Entry[] {
  return [...journal.spends.values()].flatMap((record) => {
    if (record.kind !== "payment") return [];
    const { state, transactionHash = "", blockNumber, timestamp } = statusOf(record, view);
    // If another device spent the note, the status names that device's transaction.
    const own = state === "settled";
    const entry: Entry = {
      id: record.id,
      direction: "out",
      state,
      amount: BigInt(record.amount),
      recipientWallet: record.recipient.wallet,
      recipientAddress: record.recipient.shieldedAddress,
      resource: record.resourceUrl,
      transaction: own ? transactionHash : "",
      block: own ? blockNumber : undefined,
      begun: new Date(record.created).toISOString(),
      settled: timeOf(own ? timestamp : undefined),
    };
    return [entry];
  });
}

function incoming(core: WalletCore): Entry[] {
  return core
    .notes()
    .filter(({ origin }) => origin === "payment")
    .map(({ amount, state, transactionHash, leafIndex, blockNumber, timestamp }) => ({
      id: `${transactionHash}:${leafIndex}`,
      direction: "in",
      state: state === "pending" ? "pending" : "settled",
      amount,
      recipientWallet: "",
      recipientAddress: "",
      resource: "",
      transaction: transactionHash,
      block: blockNumber,
      begun: "",
      settled: timeOf(timestamp),
    }));
}
