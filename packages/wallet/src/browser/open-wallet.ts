import { Cleanup, isStore, type OpenOptions, parseOpenOptions } from "../open/defaults.ts";
import { IndexedDbStore } from "../store/indexeddb.ts";
import type { Store } from "../store/store.ts";
import type { WalletProver } from "../wallet/core.ts";
import { Wallet } from "../wallet/wallet.ts";
import { connectProver, type ProverWorker } from "./connect-prover.ts";
import { holdLock } from "./hold-lock.ts";
import type { ProverSource } from "./messages.ts";

/** Options for opening a wallet in a browser. */
export interface OpenWalletOptions extends OpenOptions {
  /**
   * The wallet's own store, or the name of an IndexedDB database, which only one tab at a time can use. Default:
   * `sotto-CHAIN-POOL-ID`.
   */
  store?: Store | string | undefined;
  /**
   * A worker that runs `serveProver(self)`, a port to such a worker, or a prover. The caller terminates the worker.
   * Without a prover, the wallet cannot spend.
   */
  prover?: ProverWorker | WalletProver | undefined;
}

/**
 * Opens a wallet with defaults that fit its chain, in a page or a worker. Nothing is downloaded before the first proof.
 * @throws WalletError INVALID_OPTION, INVALID_WORDS, WALLET_BUSY, STORE_FOREIGN, SET_MISMATCH; the errors of
 *   `Wallet.open` and of `loadArtifacts`, including DEVELOPMENT_KEYS_REFUSED
 */
export async function openWallet(options: OpenWalletOptions): Promise<Wallet> {
  const opening = parseOpenOptions(options);
  const { wallet, service, set, name } = opening;
  const cleanup = new Cleanup();
  try {
    const store = await openStore(options.store ?? `sotto-${name}`, cleanup);
    const prover = await openProver(options, service === undefined ? undefined : { service, set });
    return await Wallet.open({ ...wallet, store, prover, service, onClose: () => cleanup.run() });
  } catch (error) {
    // An error of the cleanup must not hide the error that prevented opening the wallet.
    await cleanup.run().catch(() => undefined);
    throw error;
  }
}

async function openStore(store: Store | string, cleanup: Cleanup): Promise<Store> {
  if (isStore(store)) return store;
  cleanup.add(await holdLock(store));
  const opened = await IndexedDbStore.open(store);
  cleanup.add(() => opened.close());
  return opened;
}

async function openProver(
  { prover, onDownload, onCacheError }: OpenWalletOptions,
  source: ProverSource | undefined,
): Promise<WalletProver | undefined> {
  if (prover === undefined || "prove" in prover) return prover;
  return connectProver(prover, { source, onDownload, onCacheError });
}
