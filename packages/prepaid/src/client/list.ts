import type { PayingWallet } from "@sotto/client";
import { formatDecimalAmount } from "@sotto/protocol";
import type { ChargeEntry } from "@sotto/wallet/receipts";
import { parseReceipt, redeemsAt, type WireSignedSchedule } from "../index.ts";
import { type PrepaidBook, prepaidBookOf } from "./book.ts";
import { chargesIn } from "./metered/book.ts";
import type { ChargeEvent } from "./options.ts";
import type { PackRecord, PackState, Stop } from "./records.ts";

/** A pack, for display. */
export interface PrepaidPackInfo {
  readonly id: string;
  /** Origin of the merchant. */
  readonly origin: string;
  /** Base units of each token. */
  readonly value: bigint;
  /** UTC month in which its key signs. The tokens are valid in it and in the next one. */
  readonly epoch: string;
  /** Number of tokens that were bought. */
  readonly count: number;
  /** Tokens that were not shown yet. */
  readonly left: number;
  /** The state of the pack's purchase. */
  readonly state: PackState;
  /** Milliseconds. */
  readonly created: number;
  /** Whether it was found again after the wallet was restored. */
  readonly restored: boolean;
}

/** Unspent tokens of change, for display. */
export interface PrepaidChange {
  /** Base units of each token. */
  readonly value: bigint;
  /** UTC month of their key. The tokens are valid in it and in the next one. */
  readonly epoch: string;
  /** How many there are. */
  readonly count: number;
}

/** What was charged for a request of a metered route. */
export interface PrepaidCharge extends ChargeEvent {
  /** Identifies the request in the wallet's store. */
  readonly id: string;
  /** The merchant's wallet. */
  readonly wallet: string;
  /** When the request was sent, ms. */
  readonly at: number;
}

/** The prepaid tokens at one origin, for display. */
export interface PrepaidOrigin {
  /** Origin of the merchant. */
  readonly origin: string;
  /**
   * Unspent value in base units, including packs that are being bought and change that has not arrived: the most that the
   * merchant can withhold.
   */
  readonly unspent: bigint;
  /** Why no tokens are bought or shown until the owner decides. */
  readonly stopped: (Omit<Stop, "evidence"> & { readonly evidence: readonly WireSignedSchedule[] }) | undefined;
  /** All packs that the wallet bought from the merchant. */
  readonly packs: readonly PrepaidPackInfo[];
  /** Unspent change, by month and value. */
  readonly change: readonly PrepaidChange[];
  /** Maximum value of the change and the swaps that have not arrived, base units. `mergePrepaid` asks for them. */
  readonly underway: bigint;
}

export function describePack(book: PrepaidBook, pack: PackRecord): PrepaidPackInfo {
  const { id, origin, value, epoch, count, state, created, restored } = pack;
  return { id, origin, value: BigInt(value), epoch, count, left: book.left(pack), state, created, restored };
}

/** The prepaid tokens of a wallet, by origin. */
export async function listPrepaid(wallet: PayingWallet): Promise<PrepaidOrigin[]> {
  const book = await prepaidBookOf(wallet.store);
  return book.origins().map((origin) => ({
    origin,
    unspent: book.unspent(origin, wallet.now()),
    stopped: book.origin(origin).stopped ?? undefined,
    packs: book
      .packs(origin)
      .filter(({ change }) => change === undefined)
      .map((pack) => describePack(book, pack)),
    change: changeAt(book, origin, wallet.now()),
    underway: book.metered.underway(origin),
  }));
}

function changeAt(book: PrepaidBook, origin: string, now: number): PrepaidChange[] {
  const counts = new Map<string, PrepaidChange>();
  for (const pack of book.packs(origin)) {
    const { change, value, epoch } = pack;
    if (change === undefined || book.left(pack) === 0 || !redeemsAt(epoch, now)) continue;
    const known = counts.get(`${epoch} ${value}`)?.count ?? 0;
    counts.set(`${epoch} ${value}`, { value: BigInt(value), epoch, count: known + book.left(pack) });
  }
  return [...counts.values()].sort((a, b) => a.epoch.localeCompare(b.epoch) || Number(b.value - a.value));
}

/** What merchants charged for requests of metered routes, oldest first. */
export async function listCharges(wallet: PayingWallet): Promise<PrepaidCharge[]> {
  return (await chargesIn(wallet.store)).map(({ id, receipt, at }) => {
    const { origin, wallet: merchant, method, target, units, charge, change } = parseReceipt(receipt).receipt;
    return { id, origin, wallet: merchant, method, target, units, charge, change, receipt, at };
  });
}

/**
 * The charges as entries of the list of payments, oldest first. `paymentsCsv` of @sotto/wallet formats them.
 * @param decimals the decimals of the token, 0 to 77
 */
export async function chargeEntries(wallet: PayingWallet, decimals: number): Promise<ChargeEntry[]> {
  return (await listCharges(wallet)).map(({ id, charge, wallet: merchant, origin, target, at }) => ({
    kind: "charge",
    id,
    charge,
    chargeDecimal: formatDecimalAmount(charge, decimals),
    recipientWallet: merchant,
    resource: origin + target,
    begun: new Date(at).toISOString(),
  }));
}

/** Allows prepaid tokens at an origin again, after they were stopped there. */
export async function resumePrepaid(wallet: PayingWallet, origin: string): Promise<void> {
  const book = await prepaidBookOf(wallet.store);
  await book.exclusively(origin, () => book.resume(origin));
}

/** Gives up all tokens at an origin. A stop there remains. @returns their unspent value, base units */
export async function dropPrepaid(wallet: PayingWallet, origin: string): Promise<bigint> {
  const book = await prepaidBookOf(wallet.store);
  return book.exclusively(origin, () => book.drop(origin, wallet.now()));
}
