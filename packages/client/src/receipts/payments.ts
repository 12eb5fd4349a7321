import { formatDecimalAmount } from "@sotto/protocol";
import type { WalletCore } from "../wallet/core.ts";
import { type PaymentState, statusOf } from "../wallet/state.ts";

/** A payment in an account of a wallet: what it paid, and what it was paid. */
export interface PaymentEntry {
  /** Of the journal; of what came in, TRANSACTION:LEAF. */
  id: string;
  direction: "out" | "in";
  /** What came in is `settled`, or `pending` until it has its confirmations. */
  state: PaymentState | "pending";
  /** Base units. */
  amount: bigint;
  /** The amount as a decimal of the token. */
  decimal: string;
  /** Who was paid; "" of what came in: the chain does not tell who paid, and a wallet knows its own address. */
  recipientWallet: string;
  recipientAddress: string;
  /** What was paid for; "" of what came in: only the payer's bundle tells. */
  resource: string;
  /** Transaction and block it was settled in; "" and undefined until then. */
  transaction: string;
  block: number | undefined;
  /** When it was begun, ISO 8601; "" of what came in. */
  begun: string;
  /** Time of the block it was settled in, ISO 8601; "" until then. */
  settled: string;
}

export interface PaymentsOptions {
  /** Decimals of the token, 0 to 77. */
  decimals: number;
  direction?: "out" | "in" | undefined;
}

type Entry = Omit<PaymentEntry, "decimal">;

/**
 * All payments a wallet knows, as of the last scan, oldest first. What went out comes from the journal, which a wallet
 * that was restored from its seed alone does not have; what came in is read from the chain.
 * The node is asked nothing: it would learn in which blocks they are.
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
    // Where another device spent the note, the transaction that the status names is not this payment's.
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
