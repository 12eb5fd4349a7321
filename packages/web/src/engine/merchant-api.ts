// The calls that a merchant's page makes to its worker. The viewing keys stay in the worker's memory; they are never stored.

import { describeMonths, type Month, type PaymentInstructions } from "@sotto/protocol";
import type { Received } from "@sotto/wallet";
import type { CheckedReceipt } from "@sotto/wallet/receipts";
import type { HostConfig } from "../config.ts";
import type { Failure } from "../errors.ts";
import type { Reorganization } from "./pool-feed-api.ts";

/** An incoming payment or deposit. */
export interface ShownPayment extends Received {
  /** Whether it settled before or after the month of its address, so that only the search found it. */
  readonly isOutsideMonth: boolean;
}

/** A payer's receipt, checked against the chain. */
export interface ShownReceipt extends CheckedReceipt {
  /** Which address of the open keys was paid: that of a month, the lasting one, or none of them. Undefined without keys. */
  readonly paidTo: Month | "lasting" | "other" | undefined;
}

/** Which payments are shown: all, or those to the address of a month or to the lasting address. */
export type MonthFilter = "all" | "lasting" | Month;

/** The payments that a filter shows. Deposits name no address, so only "all" shows them. */
export function filtered<T extends Received>(received: readonly T[], filter: MonthFilter): readonly T[] {
  if (filter === "all") return received;
  return received.filter(({ origin, month }) => origin === "payment" && (month ?? "lasting") === filter);
}

/** Names the addresses of months, and the lasting one if undefined is among them. @param months in order */
export const describeAddresses = (months: readonly (Month | undefined)[]): string =>
  describeMonths(
    months.filter((month) => month !== undefined),
    months.includes(undefined),
  );

export interface MerchantState {
  /** `closed`: no keys. `reading`: reading the chain for the first time. */
  readonly phase: "closed" | "reading" | "open";
  /** The months of the addresses that the keys open, in order; undefined for the lasting address. */
  readonly months: readonly (Month | undefined)[];
  /** Whether all blocks were searched for payments outside the month of their address. */
  readonly isSearched: boolean;
  /** Set while it reads for the first time. */
  readonly progress: { readonly block: number; readonly height: number } | undefined;
  /** Payments and deposits to the addresses, oldest first. */
  readonly received: readonly ShownPayment[];
  /** Sum of the confirmed ones, base units. */
  readonly total: bigint;
  /** Why the last attempt to read the chain failed. The worker keeps trying, and the payments stay. */
  readonly problem: Failure | undefined;
  /** The last reorganization. */
  readonly reorganized: Reorganization | undefined;
  /** When the worker noticed that the chain was restarted, and read everything again; ms. */
  readonly restarted: number | undefined;
}

export const CLOSED: MerchantState = {
  phase: "closed",
  months: [],
  isSearched: false,
  progress: undefined,
  received: [],
  total: 0n,
  problem: undefined,
  reorganized: undefined,
  restarted: undefined,
};

/** A curator's set, not checked. */
export interface AskedSet {
  readonly curator: string;
  readonly name: string;
}

/** Evidence that is right: what its transaction did. */
export interface ShownEvidence {
  /** Time of the block, ms. */
  readonly time: number;
  readonly transaction: string;
  /** Number of notes that were spent. */
  readonly notes: number;
  /** Undefined for payments. The amount is base units. */
  readonly withdrawal: { readonly recipient: string; readonly amount: bigint } | undefined;
}

/** The worker's interface. Each method rejects with a `Failure`. */
export interface MerchantDesk {
  /** Calls `listener` with the current state, and again whenever it changes. */
  subscribe(listener: (state: MerchantState) => void): Promise<void>;
  /**
   * Reads the payments to the addresses of viewing keys, and retries until a node responds.
   * @param text the JSON that `sotto view-key` writes
   * @throws VIEWING_KEY_INVALID
   */
  open(config: HostConfig, text: string): Promise<void>;
  /** Deletes the keys and everything decrypted with them from memory. */
  close(): Promise<void>;
  /** The shown payments as CSV. */
  csv(filter: MonthFilter): Promise<string>;
  /**
   * Checks a payer's receipt against the chain. Needs no key; open keys say whether it was paid to one of their addresses.
   * @param challenge the text that the merchant asked the payer to sign; "" accepts any
   */
  assertReceipt(config: HostConfig, text: string, challenge: string): Promise<ShownReceipt>;
  /**
   * Checks evidence of an origin against the chain. Needs no key.
   * @param set the curator's account and the name of its set, as the user typed them
   */
  assertEvidence(config: HostConfig, text: string, set: AskedSet): Promise<ShownEvidence>;
  /** Requests a URL without paying, and reads the 402 response as clients do. */
  readInstructions(url: string): Promise<PaymentInstructions>;
}
