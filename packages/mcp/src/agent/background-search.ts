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
  /** Called with the number of payments that a range had. They are in the wallet then. */
  readonly onFound: (count: number) => void;
  /** Called if a range failed. It is searched again after `everyMs`. */
  readonly onError: (error: unknown) => void;
}

const countOf = (wallet: Wallet): number => wallet.notes().filter(isOutsideMonth).length;

/**
 * Searches one range of blocks.
 * @returns whether no block is left, and what it found
 */
async function searchRange(wallet: Wallet, signal: AbortSignal): Promise<{ isDone: boolean; found: number }> {
  await wallet.scan({ signal });
  const before = countOf(wallet);
  const range = new AbortController();
  const stop = AbortSignal.any([signal, range.signal]);
  try {
    await wallet.search({ signal: stop, onProgress: () => range.abort() });
    return { isDone: true, found: countOf(wallet) - before };
  } catch (error) {
    if (!range.signal.aborted) throw error;
    return { isDone: false, found: countOf(wallet) - before };
  }
}

/** Finds payments to addresses of other months, one range of blocks at a time, until its signal is aborted. Never rejects. */
export async function searchInBackground(options: BackgroundSearchOptions): Promise<void> {
  const { shared, signal, pauseMs, everyMs, onFound, onError } = options;
  while (!signal.aborted) {
    let pause = pauseMs;
    try {
      const searched = await shared.whileIdle(searchRange, signal);
      if (searched !== undefined && searched.found > 0) onFound(searched.found);
      if (searched?.isDone === true) pause = everyMs;
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
