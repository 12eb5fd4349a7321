import { setTimeout as sleep } from "node:timers/promises";
import { isOutsideMonth, type Wallet, WalletError } from "@sotto/wallet";
import type { SharedWallet } from "./wallet-access.ts";

/** How a server searches while no tool runs. */
export interface BackgroundSearchOptions {
  /** The wallet, which calls of tools use too. */
  readonly shared: Pick<SharedWallet, "whileIdle">;
  /** Ends the search. */
  readonly signal: AbortSignal;
  /** Pause between two ranges of blocks, in which other programs can open the wallet, ms. */
  readonly pauseMs: number;
  /** Pause after all blocks are searched, ms. */
  readonly everyMs: number;
  /** Called with the number of payments that were found since the last call. They are in the wallet then. */
  readonly onFound: (count: number) => void;
  /** Called if a range failed. It is searched again after `everyMs`. */
  readonly onError: (error: unknown) => void;
}

const countOf = (wallet: Wallet): number => wallet.notes().filter(isOutsideMonth).length;

/** A range of blocks was searched. */
interface Searched {
  /** Whether no block is left. */
  readonly isDone: boolean;
  /** Payments outside their month in the wallet before and after. */
  readonly before: number;
  readonly after: number;
}

/** Searches one range of blocks. */
async function searchRange(wallet: Wallet, signal: AbortSignal): Promise<Searched> {
  await wallet.scan({ signal });
  const before = countOf(wallet);
  const range = new AbortController();
  const stop = AbortSignal.any([signal, range.signal]);
  try {
    await wallet.search({ signal: stop, onProgress: () => range.abort() });
    return { isDone: true, before, after: countOf(wallet) };
  } catch (error) {
    if (!range.signal.aborted) throw error;
    return { isDone: false, before, after: countOf(wallet) };
  }
}

/** Finds payments to addresses of other months, one range of blocks at a time, until its signal is aborted. Never rejects. */
export async function searchInBackground(options: BackgroundSearchOptions): Promise<void> {
  const { shared, signal, pauseMs, everyMs, onFound, onError } = options;
  // What one range finds, a later scan takes into the wallet.
  let known: number | undefined;
  while (!signal.aborted) {
    let pause = pauseMs;
    try {
      const searched = await shared.whileIdle(searchRange, signal);
      if (searched !== undefined) {
        known ??= searched.before;
        if (searched.after > known) onFound(searched.after - known);
        known = searched.after;
        if (searched.isDone) pause = everyMs;
      }
    } catch (error) {
      if (signal.aborted) return;
      // Another program uses the wallet.
      if (!(error instanceof WalletError && error.code === "WALLET_BUSY")) {
        onError(error);
        pause = everyMs;
      }
    }
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
