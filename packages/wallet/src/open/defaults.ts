import { LOCAL_CHAIN_IDS, parseAddress } from "@sotto/protocol";
import type { ArtifactProgress } from "@sotto/prover";
import { keccak256, toUtf8Bytes } from "ethers";
import { WalletError } from "../errors.ts";
import { seedFromWords, shieldedAddressOf } from "../seed.ts";
import type { Store } from "../store/store.ts";
import { type PoolOptions, parseChainId } from "../wallet/connect.ts";
import type { WalletOptions } from "../wallet/wallet.ts";

/** Where a local chain's node listens. */
export const LOCAL_NODE = "http://127.0.0.1:8545";
/** Where a local service listens. */
export const LOCAL_SERVICE = "http://127.0.0.1:8402/zk";

/** The part of a deployment's manifest that a wallet needs. */
export type WalletDeployment = Omit<PoolOptions, "chain" | "signal"> & {
  /** Set of keys that the pool's verifiers belong to: `development`, `ceremony/NAME` or `rehearsal/NAME`. */
  set: string;
};

/** The options of `openWallet` that Node and browsers share. */
export interface OpenOptions {
  /** The pool's manifest, as `parseDeployment` returns it. */
  deployment: WalletDeployment;
  /** 24 words. Give either `words` or `seed`. */
  words?: string | undefined;
  /** 32 bytes. */
  seed?: Uint8Array | undefined;
  /** URLs of JSON-RPC nodes, the preferred one first, or any `ChainSource`. Default: `LOCAL_NODE` on a local chain. */
  nodes?: PoolOptions["chain"] | undefined;
  /**
   * Base URL of the service that has the circuits' files and submits the deposits of `wallet.fund`. Default:
   * `LOCAL_SERVICE` on a local chain. Without a service and a prover, the wallet cannot spend.
   */
  service?: string | undefined;
  /** Confirmations, 0 to 1,000. Default: the manifest's, otherwise 0 on a local chain and 2 elsewhere. */
  finality?: number | undefined;
  /** Called while a file of the circuits is downloaded, before the first proof that needs it. */
  onDownload?: ((progress: ArtifactProgress) => void) | undefined;
  /** Called if the downloaded files cannot be cached. The wallet still works. */
  onCacheError?: ((error: Error) => void) | undefined;
  /** Whether anyone was ever given the lasting address. Default: "used". */
  lastingAddress?: WalletOptions["lastingAddress"];
  /** Maximum blocks per request to a node. Default: 10,000. */
  rangeSize?: number | undefined;
  /** Returns milliseconds since the Unix epoch. Default: Date.now. */
  clock?: (() => number) | undefined;
  /** Aborts the opening, which then throws its reason; later it has no effect. Default: none. */
  signal?: AbortSignal | undefined;
}

/** The values that `openWallet` passes to `Wallet.open`, except the store and the prover. */
export interface Opening {
  readonly wallet: Omit<WalletOptions, "store" | "prover" | "onClose" | "service">;
  readonly service: string | undefined;
  readonly set: string;
  /** `CHAIN-POOL-ID`: distinguishes the wallets on a machine, and reveals no more than a shielded address does. */
  readonly name: string;
}

/** @throws WalletError INVALID_OPTION, INVALID_WORDS; SottoError INVALID_KEY, INVALID_ADDRESS */
export function parseOpenOptions(options: OpenOptions): Opening {
  const {
    deployment,
    words,
    seed: given,
    nodes,
    finality,
    rangeSize,
    lastingAddress,
    clock,
    signal,
  } = Object(options) as Partial<OpenOptions>;
  if (typeof deployment !== "object" || deployment === null)
    throw new WalletError("INVALID_OPTION", "deployment is missing: the pool's manifest");
  if ((words === undefined) === (given === undefined))
    throw new WalletError("INVALID_OPTION", "give either words, the wallet's 24 words, or seed, its 32 bytes");
  const seed = given ?? seedFromWords(words ?? "");
  const { pool, token, deploymentBlock, set } = deployment;
  if (typeof set !== "string")
    throw new WalletError("INVALID_OPTION", "deployment.set is missing: the name of the pool's set of keys");
  const chainId = parseChainId(deployment.chainId);
  const local = LOCAL_CHAIN_IDS.includes(chainId);
  const chain = nodes ?? (local ? LOCAL_NODE : undefined);
  if (chain === undefined)
    throw new WalletError("INVALID_OPTION", `nodes is missing: the URL of a JSON-RPC node of chain ${chainId}`);
  const place = { chainId, pool: parseAddress(pool, "pool") };
  const id = keccak256(toUtf8Bytes(shieldedAddressOf(seed, place))).slice(2, 18);
  return {
    wallet: {
      ...place,
      chain,
      token,
      deploymentBlock,
      set,
      seed,
      finality: finality ?? deployment.finality,
      rangeSize,
      lastingAddress,
      clock,
      signal,
    },
    service: options.service ?? (local ? LOCAL_SERVICE : undefined),
    set,
    name: `${chainId}-${place.pool}-${id}`,
  };
}

/** Whether an option is a store rather than the name of one. @throws WalletError INVALID_OPTION */
export function isStore(store: Store | string): store is Store {
  if (typeof store === "object" && store !== null) return true;
  if (typeof store === "string" && store !== "") return false;
  throw new WalletError("INVALID_OPTION", "store must be a store or its name");
}

/** Actions to run when a wallet is closed or could not be opened, in reverse order. */
export class Cleanup {
  readonly #actions: (() => unknown)[] = [];

  add(action: () => unknown): void {
    this.#actions.push(action);
  }

  /** Runs all actions. @throws the first error, after the last action has run */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (let action = this.#actions.pop(); action; action = this.#actions.pop())
      try {
        await action();
      } catch (error) {
        errors.push(error);
      }
    if (errors.length > 0) throw errors[0];
  }
}
