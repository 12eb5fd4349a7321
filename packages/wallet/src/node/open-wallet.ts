import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Artifacts, createProver, type LoadOptions, loadArtifacts, type Prover } from "@sotto/prover";
import { assertNodeVersion } from "../node-version.ts";
import { Cleanup, isStore, type OpenOptions, parseOpenOptions, type WalletDeployment } from "../open/defaults.ts";
import { SqliteStore } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";
import type { WalletProver } from "../wallet/core.ts";
import { Wallet } from "../wallet/wallet.ts";
import { lockFile } from "./lock-file.ts";

/** Source of the circuits' files, if it is not the service. */
export type ArtifactPlace = Pick<LoadOptions, "folder" | "baseUrl">;

/** Options for opening a wallet in Node. */
export interface OpenWalletOptions extends OpenOptions {
  /** Folder for stores and downloaded files. Default: `.sotto` in the user's home. */
  folder?: string | undefined;
  /**
   * The wallet's own store, or the path of an SQLite file, which only one process at a time can use. Default:
   * `wallets/CHAIN-POOL-ID.sqlite` in the folder.
   */
  store?: Store | string | undefined;
  /** Default: the service, with a cache in the folder (`artifacts`). */
  artifacts?: ArtifactPlace | undefined;
  /** Default: a prover for the artifacts, which uses a worker thread. */
  prover?: WalletProver | undefined;
}

/**
 * Opens a wallet with defaults that fit its chain. Nothing is downloaded before the first proof.
 * @throws WalletError NODE_TOO_OLD, INVALID_OPTION, INVALID_WORDS, WALLET_BUSY, STORE_FOREIGN, SET_MISMATCH; the errors
 *   of `Wallet.open` and of `loadArtifacts`, including DEVELOPMENT_KEYS_REFUSED
 */
export async function openWallet(options: OpenWalletOptions): Promise<Wallet> {
  // Checked first, because an unsupported Node fails with any options.
  assertNodeVersion();
  const opening = parseOpenOptions(options);
  const folder = folderOf(options.folder);
  const cleanup = new Cleanup();
  try {
    const store = openStore(options.store ?? join(folder, "wallets", `${opening.name}.sqlite`), cleanup);
    const own = options.prover === undefined ? await openProver({ ...options, service: opening.service }) : undefined;
    cleanup.add(() => own?.close());
    const { wallet, service } = opening;
    return await Wallet.open({
      ...wallet,
      store,
      prover: options.prover ?? own,
      service,
      onClose: () => cleanup.run(),
    });
  } catch (error) {
    // An error of the cleanup must not hide the error that prevented opening the wallet.
    await cleanup.run().catch(() => undefined);
    throw error;
  }
}

function openStore(store: Store | string, cleanup: Cleanup): Store {
  if (isStore(store)) return store;
  const path = resolve(store);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  cleanup.add(lockFile(`${path}.lock`));
  const opened = new SqliteStore(path);
  cleanup.add(() => opened.close());
  return opened;
}

/** Options for creating a prover, or loading its files: where the circuits' files are, and the functions that downloads call. */
export interface OpenProverOptions
  extends Pick<OpenWalletOptions, "artifacts" | "service" | "folder" | "onDownload" | "onCacheError"> {
  /** The pool's manifest, of which only the name of its set of keys is used. */
  readonly deployment: Pick<WalletDeployment, "set">;
}

/**
 * Loads the circuits' files as `openWallet` does: from the artifacts' place or the service, with a cache in the folder. For programs that
 * only verify.
 * @param signal ends downloads
 * @returns undefined if there is neither a source of the artifacts nor a service
 * @throws the errors of `loadArtifacts`
 */
export async function openArtifacts(
  { artifacts, service, folder, deployment: { set }, onDownload, onCacheError }: OpenProverOptions,
  signal?: AbortSignal,
): Promise<Artifacts | undefined> {
  if (artifacts === undefined && service === undefined) return undefined;
  const place = artifacts ?? { service };
  const cache = join(folderOf(folder), "artifacts");
  return loadArtifacts({ ...place, set, cache, onProgress: onDownload, onCacheError, signal });
}

/**
 * Creates the prover that `openWallet` creates by default. A program that opens a wallet again and again creates it once and
 * passes it each time, so that the keys are prepared once. Nothing is downloaded before the first proof. Close it at the end.
 * @returns undefined if there is neither a source of the artifacts nor a service
 * @throws the errors of `loadArtifacts`
 */
export async function openProver(options: OpenProverOptions): Promise<Prover | undefined> {
  const closing = new AbortController();
  const artifacts = await openArtifacts(options, closing.signal);
  if (artifacts === undefined) return undefined;
  const prover = createProver(artifacts);
  return {
    ...prover,
    async close() {
      closing.abort();
      await prover.close();
    },
  };
}

const folderOf = (folder: string | undefined): string => resolve(folder ?? join(homedir(), ".sotto"));
