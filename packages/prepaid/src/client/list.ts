import type { PayingWallet } from "@sotto/client";
import type { WireSignedSchedule } from "../index.ts";
import { type PrepaidBook, prepaidBookOf } from "./book.ts";
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

/** The prepaid tokens at one origin, for display. */
export interface PrepaidOrigin {
  /** Origin of the merchant. */
  readonly origin: string;
  /** Unspent value in base units, including packs that are being bought: the most that the merchant can withhold. */
  readonly unspent: bigint;
  /** Why no tokens are bought or shown until the owner decides. */
  readonly stopped: (Omit<Stop, "evidence"> & { readonly evidence: readonly WireSignedSchedule[] }) | undefined;
  /** All packs of the merchant that the wallet knows. */
  readonly packs: readonly PrepaidPackInfo[];
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
    packs: book.packs(origin).map((pack) => describePack(book, pack)),
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
