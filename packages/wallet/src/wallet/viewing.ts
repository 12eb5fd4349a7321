import { assertViewingKeys, type Month, type ViewingKeys } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import { viewingScanKeys } from "../scan/scan-keys.ts";
import { PoolSync } from "../scan/sync.ts";
import type { ScanResult } from "../scan/types.ts";
import type { Store } from "../store/store.ts";
import { connectPool, finalityOf, type PoolInfo, type PoolOptions, parseCount } from "./connect.ts";
import type { ScanOptions } from "./core.ts";
import { claimStore } from "./identity.ts";
import { Lock } from "./lock.ts";
import { type SearchOptions, search } from "./search.ts";

export interface ViewingWalletOptions extends PoolOptions {
  /**
   * The keys that read, of one wallet: as `parseViewingKeys` returns them. They may be others than the last time: the store forgets
   * what a removed key has found, and a scan reads again where a new key may find something.
   */
  keys: ViewingKeys;
  /** Keeps what was scanned. One wallet per store. */
  store: Store;
  /** Maximum blocks per request to the node. Default: 10,000. */
  rangeSize?: number | undefined;
}

/** Where on chain something was found. */
interface Place {
  /** Index of the note in the tree. */
  leafIndex: number;
  /** Number of the block that settled it. */
  blockNumber: number;
  /** Time of its block, seconds. Requesting that block from the node would reveal the payment's owner. */
  timestamp: number;
  /** Hash of its transaction. */
  transactionHash: string;
  /** Whether it has the required confirmations. */
  confirmed: boolean;
}

/** An incoming payment or deposit. */
export interface Received extends Place {
  /** Base units. */
  amount: bigint;
  /** How the tokens arrived. */
  origin: "payment" | "deposit";
  /** The month of the paid address; undefined for the lasting address. */
  month: Month | undefined;
}

/** A payment, merge or withdrawal of the owner. */
export interface Spent extends Place {
  /** What spent the owner's notes: a payment, or a withdrawal or merge. */
  by: "payment" | "withdrawal";
  /** What was left of the spent notes, base units. How much they were worth before is not visible. */
  change: bigint;
  /** The month of the key that found it; undefined for the lasting one. */
  month: Month | undefined;
}

/**
 * Reads the payments to a wallet's addresses, for a merchant's server or an auditor. It has no spending key, so it cannot
 * spend. Without change keys it does not see what the owner spends.
 */
export class ViewingWallet {
  /** The pool that it reads. */
  readonly pool: PoolInfo;
  readonly #sync: PoolSync;
  readonly #lock = new Lock();

  private constructor(pool: PoolInfo, sync: PoolSync) {
    this.pool = pool;
    this.#sync = sync;
  }

  /**
   * Opens a wallet that reads received payments with viewing keys, and spends nothing.
   * @throws the errors of `Wallet.open`; SottoError INVALID_KEY if a key does not belong to its address
   */
  static async open(options: ViewingWalletOptions): Promise<ViewingWallet> {
    const { keys: given, store } = Object(options) as ViewingWalletOptions;
    const keys = viewingScanKeys(assertViewingKeys(given));
    const rangeSize = options.rangeSize === undefined ? undefined : parseCount(options.rangeSize, "rangeSize", 1);
    if (typeof store !== "object" || store === null) throw new WalletError("INVALID_OPTION", "store is missing");
    const { chain, info } = await connectPool(options);
    const finality = finalityOf(options, info.chainId);
    await claimStore(store, { ...info, owner: `viewing tag ${keys.ownerTag}` });
    const { deploymentBlock } = info;
    const sync = await PoolSync.open({ chain, deployment: info, deploymentBlock, store, finality, keys, rangeSize });
    return new ViewingWallet(info, sync);
  }

  /** Number of the newest block at the last scan. */
  get height(): number {
    return this.#sync.height;
  }

  /** Scans new blocks. */
  scan({ onProgress, signal }: ScanOptions = {}): Promise<ScanResult> {
    return this.#lock.run(() => this.#sync.scan(onProgress, signal), signal);
  }

  /**
   * Tries payments also with the keys of other months than their block's, as `Wallet.search` does.
   * @returns how many payments it found
   */
  search(options: SearchOptions = {}): Promise<number> {
    const [sync, lock] = [this.#sync, this.#lock];
    return search({ sync, lock, scan: (signal) => sync.scan(undefined, signal) }, options);
  }

  /** All incoming payments and deposits in chain order, as of the last scan. */
  received(): Received[] {
    return this.#found(["payment", "deposit"]).map((note) => ({
      amount: note.amount,
      origin: note.origin === "deposit" ? "deposit" : "payment",
      month: note.month,
      ...this.#placeOf(note),
    }));
  }

  /**
   * The owner's payments, merges and withdrawals that left change for which a change key was given, in chain order, as of the
   * last scan. Those of other months are not visible, and neither is a withdrawal that left nothing.
   */
  spent(): Spent[] {
    return this.#found(["change", "output"]).map((note) => ({
      by: note.origin === "change" ? "payment" : "withdrawal",
      change: note.amount,
      month: note.month,
      ...this.#placeOf(note),
    }));
  }

  #found(origins: readonly FoundNote["origin"][]): FoundNote[] {
    return [...this.#sync.ledger.notes.values()].filter(({ origin }) => origins.includes(origin));
  }

  #placeOf({ leafIndex, blockNumber, timestamp, transactionHash }: FoundNote): Place {
    const { confirmed } = this.#sync;
    const isConfirmed = confirmed !== undefined && blockNumber <= confirmed.number;
    return { leafIndex, blockNumber, timestamp, transactionHash, confirmed: isConfirmed };
  }

  /** Sum of all confirmed incoming payments and deposits, base units. Outgoing payments are not visible. */
  total(): bigint {
    return this.received().reduce((total, { amount, confirmed }) => (confirmed ? total + amount : total), 0n);
  }
}
