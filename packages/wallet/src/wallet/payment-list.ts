import { formatDecimalAmount } from "@sotto/protocol";
import { isOutsideMonth } from "../scan/scan-keys.ts";
import type { WalletCore } from "./core.ts";
import { type PaymentState, statusOf } from "./state.ts";
import type { Received } from "./viewing.ts";

/** A payment that the wallet made or received. */
export interface PaymentEntry {
  kind: "payment";
  /** Id in the journal; TRANSACTION:LEAF for an incoming payment. */
  id: string;
  /** `out`: the wallet paid. `in`: the wallet was paid. */
  direction: "out" | "in";
  /** An incoming payment is `pending` until it has the required confirmations, then `settled`. */
  state: PaymentState | "pending";
  /** Base units, 0 to 2^64 - 1. */
  amount: bigint;
  /** The amount as a decimal of the token. */
  decimal: string;
  /** Wallet address of the recipient; "" for an incoming payment, whose recipient is this wallet. */
  recipientWallet: string;
  /** Shielded address of the recipient, 64 bytes, hex with 0x; "" for an incoming payment. */
  recipientAddress: string;
  /** URL of the resource; "" for an incoming payment, because only the payer's bundle has it. */
  resource: string;
  /** Hash of the settling transaction, 32 bytes, hex with 0x; "" until then. */
  transaction: string;
  /** Height of its block; undefined until then. */
  block: number | undefined;
  /** When it was started, ISO 8601; "" for an incoming payment. */
  begun: string;
  /** Time of the settling block, ISO 8601; "" until then. */
  settled: string;
  /** The month of the address that was paid; "" for the lasting address, and for an outgoing payment. */
  month: string;
  /** Whether an incoming payment settled before or after that month, so that only a search found it. */
  outsideMonth: boolean;
}

/**
 * What a merchant charged for a request that was paid with credit. The payment that bought the credit is an entry of its own, so
 * sums of payments and sums of charges are kept apart.
 */
export interface ChargeEntry {
  kind: "charge";
  /** Identifies the request in the wallet's store. */
  id: string;
  /** Base units, 0 to 2^64 - 1. */
  charge: bigint;
  /** The charge as a decimal of the token. */
  chargeDecimal: string;
  /** Wallet address of the merchant. */
  recipientWallet: string;
  /** URL of the request. */
  resource: string;
  /** When the request was sent, ISO 8601. */
  begun: string;
}

/** The payments of a list, and the format of its amounts. */
export interface PaymentsOptions {
  /** Decimals of the token, 0 to 77. */
  decimals: number;
  /** `out`: only payments that the wallet made. `in`: only those that it received. Default: both. */
  direction?: "out" | "in" | undefined;
}

/** A received payment as an entry of the list. @param decimals the decimals of the token, 0 to 77 */
export function receivedEntry(payment: Omit<Received, "origin">, decimals: number): PaymentEntry {
  const { transactionHash, leafIndex, amount, confirmed, blockNumber, timestamp, month = "" } = payment;
  return {
    kind: "payment",
    id: `${transactionHash}:${leafIndex}`,
    direction: "in",
    state: confirmed ? "settled" : "pending",
    amount,
    decimal: formatDecimalAmount(amount, decimals),
    recipientWallet: "",
    recipientAddress: "",
    resource: "",
    transaction: transactionHash,
    block: blockNumber,
    begun: "",
    settled: timeOf(timestamp),
    month,
    outsideMonth: isOutsideMonth(payment),
  };
}

/**
 * All payments of a wallet as of the last scan, oldest first. Outgoing ones come from the journal, which a wallet
 * restored from its seed lacks. Incoming ones come from the chain. The node is not queried, because it would learn
 * their blocks.
 */
export async function paymentEntries(core: WalletCore, options: PaymentsOptions): Promise<PaymentEntry[]> {
  const { decimals, direction } = options;
  const entries = [
    ...(direction === "in" ? [] : outgoing(core, decimals)),
    ...(direction === "out" ? [] : incoming(core, decimals)),
  ];
  return entries.sort(oldestFirst);
}

const startOf = (entry: PaymentEntry | ChargeEntry): string =>
  entry.kind === "charge" ? entry.begun : entry.begun || entry.settled;

/** Sorts payments and charges by the time at which they were started; incoming payments by that of their block. */
export function oldestFirst(a: PaymentEntry | ChargeEntry, b: PaymentEntry | ChargeEntry): number {
  const [first, second] = [startOf(a), startOf(b)];
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function timeOf(timestamp: number | undefined): string {
  return timestamp === undefined ? "" : new Date(timestamp * 1000).toISOString();
}

function outgoing({ journal, view }: WalletCore, decimals: number): PaymentEntry[] {
  return [...journal.spends.values()].flatMap((record) => {
    if (record.kind !== "payment") return [];
    const { state, transactionHash = "", blockNumber, timestamp } = statusOf(record, view);
    // If another device spent the note, the status names that device's transaction.
    const own = state === "settled";
    const amount = BigInt(record.amount);
    const entry: PaymentEntry = {
      kind: "payment",
      id: record.id,
      direction: "out",
      state,
      amount,
      decimal: formatDecimalAmount(amount, decimals),
      recipientWallet: record.recipient.wallet,
      recipientAddress: record.recipient.shieldedAddress,
      resource: record.resourceUrl,
      transaction: own ? transactionHash : "",
      block: own ? blockNumber : undefined,
      begun: new Date(record.created).toISOString(),
      settled: timeOf(own ? timestamp : undefined),
      month: "",
      outsideMonth: false,
    };
    return [entry];
  });
}

const incoming = (core: WalletCore, decimals: number): PaymentEntry[] =>
  core
    .notes()
    .filter(({ origin }) => origin === "payment")
    .map((note) => receivedEntry({ ...note, month: note.month, confirmed: note.state !== "pending" }, decimals));
