// An open wallet, which reads the chain at regular intervals.

import { readBlock, readContract, readDecimals } from "@sotto/chain";
import { dismissPurchase, openPurchases, spentOn } from "@sotto/client";
import { Origins } from "@sotto/origins/wallet";
import {
  chargeEntries,
  dropPrepaid,
  listCharges,
  listPrepaid,
  type PrepaidOrigin,
  resumePrepaid,
} from "@sotto/prepaid/client";
import { assertAmount, bytesToHex, formatViewingKeys, hexToBytes, parseAmount, payableMonths } from "@sotto/protocol";
import type { ArtifactProgress } from "@sotto/prover";
import {
  type Chain,
  createSeedWords,
  IdleSearch,
  type StoreValue,
  seedFromWords,
  tokenInterface,
  Wallet,
  wordsFromSeed,
} from "@sotto/wallet";
import { IndexedDbStore } from "@sotto/wallet/indexeddb";
import { oldestFirst, paymentsCsv } from "@sotto/wallet/receipts";
import { Wallet as Account } from "ethers";
import { deleteDB } from "idb";
import type { HostConfig, Limits } from "../config.ts";
import { type Failure, failureOf, WebError } from "../errors.ts";
import { DECIMALS } from "../lib/amount.ts";
import type { OnProgress, Paid, PrepaidView, WalletView } from "./api.ts";
import { connect, pauseMs, readGenesis } from "./chain.ts";
import { type Context, createServices, recordedFetch } from "./context.ts";
import { historyOf, unfinishedOf } from "./history.ts";
import { originView } from "./origins.ts";
import { continueNumber, phoneKeyOf } from "./phone.ts";
import { lazyProver } from "./prover.ts";
import { pay } from "./requests.ts";
import { accountOf, resumeDeposits, resumeWithdrawals } from "./transfers.ts";
import type { Secrets } from "./vault.ts";
import type { KnownChain, Vault } from "./vault-store.ts";

const LIMITS_KEY = "web/limits";

export { createSeedWords };

/** @throws WalletError INVALID_WORDS */
export function secretsOf(words: string): Secrets {
  return { seed: bytesToHex(seedFromWords(words)).slice(2), account: Account.createRandom().privateKey };
}

export const wordsOf = ({ seed }: Secrets): string => wordsFromSeed(hexToBytes(`0x${seed}`, 32));

/** Each chain has its own database, even a local chain that restarts with the same id and pool. */
const databaseOf = (vault: Pick<Vault, "id">, { chainId, pool, genesis }: KnownChain): string =>
  `sotto-wallet-${vault.id}-${chainId}-${pool}-${genesis.slice(2, 18)}`;

export const deleteStore = (vault: Pick<Vault, "id">, chain: KnownChain): Promise<void> =>
  deleteDB(databaseOf(vault, chain));

/** Fills a new wallet's store with the records of a backup. */
export async function fillStore(
  vault: Pick<Vault, "id">,
  chain: KnownChain,
  records: readonly { key: string; value: StoreValue }[],
): Promise<void> {
  const store = await IndexedDbStore.open(databaseOf(vault, chain));
  try {
    await store.batch(records.map(({ key, value }) => ({ put: key, value, expected: 0 })));
  } finally {
    await store.close();
  }
}

export interface SessionOptions {
  readonly config: HostConfig;
  readonly secrets: Secrets;
  readonly vault: Pick<Vault, "id" | "chain">;
  onProgress(progress: { block: number; height: number }): void;
  onChange(view: WalletView): void;
  /** The chain was restarted while the wallet was open. */
  onReplaced(failure: Failure): void;
}

async function readKnownChain(chain: Chain, { deployment }: HostConfig): Promise<KnownChain> {
  return { chainId: deployment.chainId, pool: deployment.pool, genesis: await readGenesis(chain) };
}

/** @throws WebError CHAIN_REPLACED */
function expectSame(known: KnownChain | undefined, found: KnownChain): void {
  if (known === undefined) return;
  const same = known.chainId === found.chainId && known.pool === found.pool && known.genesis === found.genesis;
  if (same) return;
  const what =
    known.chainId === found.chainId && known.pool === found.pool
      ? `chain ${found.chainId} was restarted`
      : `this wallet was used with the pool ${known.pool} on chain ${known.chainId}; the host now names ${found.pool} on chain ${found.chainId}`;
  throw new WebError("CHAIN_REPLACED", what, { known: known.genesis, found: found.genesis });
}

/** @param charges those of this merchant */
function prepaidView(
  { origin, unspent, underway, stopped, packs, change }: PrepaidOrigin,
  charges: readonly { readonly charge: bigint }[],
): PrepaidView {
  return {
    origin,
    unspent: unspent - underway,
    underway,
    charged: charges.reduce((sum, { charge }) => sum + charge, 0n),
    requests: charges.length,
    tokens:
      packs.reduce((sum, { left, state }) => sum + (state === "ready" ? left : 0), 0) +
      change.reduce((sum, { count }) => sum + count, 0),
    stopped: stopped?.message,
  };
}

export class Session {
  readonly context: Context;
  readonly known: KnownChain;
  readonly #options: SessionOptions;
  readonly #chain: Chain;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  #failures = 0;
  #problem: Failure | undefined;
  #reorganized: WalletView["reorganized"];
  #tokens: bigint | undefined;
  #shown = "";
  #closed = false;
  #download: WalletView["download"];
  /** Payments and withdrawals that this page is making now; they are not shown as unfinished. */
  #running = 0;
  /** Finds payments outside the month of their address, while this page makes none. */
  readonly #search: IdleSearch;

  /** @throws WebError CHAIN_REPLACED; the errors of `Wallet.open` and `wallet.scan` */
  static async open(options: SessionOptions): Promise<Session> {
    const { config, secrets, vault } = options;
    const { deployment } = config;
    const chain = connect(config);
    const known = await readKnownChain(chain, config);
    expectSame(vault.chain, known);
    const { send: serviceFetch, requests } = recordedFetch(config.service);
    const { service, registry } = createServices(config, serviceFetch);
    let session: Session | undefined;
    const prover = lazyProver({
      service: config.service,
      set: deployment.set,
      onDownload: (progress) => session?.showDownload(progress),
    });
    const store = await IndexedDbStore.open(databaseOf(vault, known));
    try {
      const seed = hexToBytes(`0x${secrets.seed}`, 32);
      const { chainId, pool, token, deploymentBlock, set, finality } = deployment;
      const wallet = await Wallet.open({
        ...{ chain, chainId, pool, token, deploymentBlock, set, finality },
        ...{ seed, store, prover, service },
      });
      const decimals = await readDecimals(chain, wallet.pool.token);
      if (decimals !== DECIMALS)
        throw new WebError("HOST_CONFIG_INVALID", `the pool's token has ${decimals} decimals, expected ${DECIMALS}`);
      await wallet.scan({ onProgress: options.onProgress });
      const limits = await readLimits(wallet, config.limits);
      const origins = await Origins.open(wallet);
      const opened: Session = new Session(options, chain, known, {
        ...{ config, secrets, wallet, origins, prover, service, registry, serviceFetch, requests, limits },
        refresh: () => opened.look(),
      });
      session = opened;
      // What fails is in the state of the set.
      origins.start();
      void resumeDeposits(opened.context);
      void resumeWithdrawals(opened.context);
      await opened.#show();
      opened.#plan();
      return opened;
    } catch (error) {
      prover.close();
      await store.close();
      throw error;
    }
  }

  private constructor(options: SessionOptions, chain: Chain, known: KnownChain, context: Context) {
    this.#options = options;
    this.#chain = chain;
    this.known = known;
    this.context = context;
    const onSearched = (found: number) => void (found > 0 && this.look());
    this.#search = new IdleSearch({ wallet: context.wallet, onSearched });
  }

  /** Reads the chain now, and shows the result. Never rejects: the page shows what went wrong. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      this.#plan();
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { wallet } = this.context;
    try {
      const { rolledBack } = await wallet.scan();
      if (rolledBack > 0) {
        await this.#expectSameChain();
        this.#reorganized = { at: Date.now(), blocks: rolledBack };
      }
      this.#tokens = BigInt(
        await readContract<bigint>(this.#chain, {
          abi: tokenInterface,
          to: wallet.pool.token,
          name: "balanceOf",
          values: [accountOf(this.context).address],
        }),
      );
      this.#failures = 0;
      this.#problem = undefined;
      if (this.#running === 0 && !this.#closed) this.#search.start();
    } catch (error) {
      this.#failures += 1;
      this.#problem = failureOf(error);
      if (this.#problem.code !== "CHAIN_REPLACED") await this.#checkReplaced();
    }
    if (this.#closed) return;
    if (this.#problem?.code === "CHAIN_REPLACED") return this.#options.onReplaced(this.#problem);
    await this.#show().catch((error: unknown) => {
      this.#problem = failureOf(error);
    });
  }

  /** @throws WebError CHAIN_REPLACED */
  async #expectSameChain(): Promise<void> {
    expectSame(this.known, await readKnownChain(this.#chain, this.context.config));
  }

  /** Called after a failure: a restarted chain looks like a node that lacks blocks or the pool. */
  async #checkReplaced(): Promise<void> {
    await this.#expectSameChain().catch((error: unknown) => {
      const failure = failureOf(error);
      if (failure.code === "CHAIN_REPLACED") this.#problem = failure;
    });
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const pause = pauseMs(this.context.config.deployment.chainId, this.#failures);
    this.#timer = setTimeout(() => void this.look(), pause);
  }

  /** Sends the state to the page if it changed. */
  async #show(): Promise<void> {
    const { wallet, limits } = this.context;
    const { spendable, held, queued, pending, total } = wallet.balance();
    const charges = await listCharges(wallet);
    const view: WalletView = {
      download: this.#download,
      address: wallet.shieldedAddress,
      balance: { spendable, held, arriving: queued + pending, total },
      limits,
      spentToday: await spentOn(wallet.store, wallet.now()),
      account: { address: accountOf(this.context).address, tokens: this.#tokens },
      history: await historyOf(wallet, charges),
      unfinished: this.#running > 0 ? [] : await unfinishedOf(wallet),
      withdrawals: this.#running > 0 ? [] : wallet.unfinishedWithdrawals(),
      prepaid: (await listPrepaid(wallet)).map((each) =>
        prepaidView(
          each,
          charges.filter(({ origin }) => origin === each.origin),
        ),
      ),
      origins: this.context.origins.status().map(originView),
      height: wallet.height,
      problem: this.#problem,
      reorganized: this.#reorganized,
    };
    const text = JSON.stringify(view, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
    if (text === this.#shown || this.#closed) return;
    this.#shown = text;
    this.#options.onChange(view);
  }

  /** Shows how much of a circuit's file has been downloaded. */
  showDownload({ circuit, received, total }: ArtifactProgress): void {
    const percent = total === undefined ? undefined : Math.floor((100 * received) / total);
    const before = this.#download;
    this.#download = percent === 100 ? undefined : { circuit, percent, megabytes: Math.floor(received / 1e6) };
    const changed = before?.percent !== this.#download?.percent || before?.megabytes !== this.#download?.megabytes;
    if (changed) void this.#show();
  }

  /** Runs an action that may pay. */
  async operate<T>(action: () => Promise<T>): Promise<T> {
    this.#running += 1;
    void this.#search.stop();
    try {
      return await action();
    } finally {
      this.#running -= 1;
      // Shown before the result is returned: a page that still showed the payment as unfinished would resume it. `look`
      // reports failures.
      await this.#show().catch(() => undefined);
      void this.look();
    }
  }

  async resume(id: string, onProgress: OnProgress, signal: AbortSignal): Promise<Paid> {
    const { wallet } = this.context;
    const found = (await openPurchases(wallet)).find((purchase) => purchase.id === id);
    if (found === undefined) throw new WebError("NOT_PAYABLE", "this payment is no longer open");
    const key = await phoneKeyOf(wallet, found.resourceUrl);
    if (key !== undefined) return continueNumber(this.context, key, onProgress, signal);
    const quote = { url: found.resourceUrl, price: found.price, merchant: found.recipient };
    return pay(this.context, quote, undefined, onProgress, signal);
  }

  async dismiss(id: string): Promise<void> {
    await dismissPurchase(this.context.wallet, id);
    await this.look();
  }

  async decideTokens(origin: string, decision: "resume" | "drop"): Promise<void> {
    if (decision === "drop") await dropPrepaid(this.context.wallet, origin);
    else await resumePrepaid(this.context.wallet, origin);
    await this.#show();
  }

  /** Runs an action of the owner on the sets that the wallet follows, and shows the result. */
  async changeOrigins(action: (context: Context) => Promise<void>): Promise<void> {
    try {
      await action(this.context);
    } finally {
      await this.look();
    }
  }

  async setLimits(limits: Limits): Promise<void> {
    const maxPerRequest = assertAmount(limits.maxPerRequest, "the limit per payment");
    const maxPerDay = assertAmount(limits.maxPerDay, "the limit per day");
    await this.context.wallet.store.put(LIMITS_KEY, {
      maxPerRequest: String(maxPerRequest),
      maxPerDay: String(maxPerDay),
    });
    this.context.limits = { maxPerRequest, maxPerDay };
    await this.#show();
  }

  async receipt(id: string): Promise<string> {
    return `${JSON.stringify(await this.context.wallet.receipt(id), null, 2)}\n`;
  }

  async csv(): Promise<string> {
    const { wallet } = this.context;
    const [payments, charges] = await Promise.all([
      wallet.payments({ decimals: DECIMALS }),
      chargeEntries(wallet, DECIMALS),
    ]);
    return paymentsCsv([...payments, ...charges].sort(oldestFirst));
  }

  /** See `Engine.viewingKeys`. */
  async viewingKeys(): Promise<string> {
    const { wallet, config } = this.context;
    const { timestamp } = await readBlock(this.#chain, config.deployment.deploymentBlock);
    const months = payableMonths(1000 * timestamp, wallet.now());
    return formatViewingKeys(wallet.viewingKeys({ months, lasting: true }), wallet.pool);
  }

  /** Stops reading, and closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.context.origins.close();
    this.context.prover.close();
    await this.#looking;
    await this.#search.stop();
    await this.context.wallet.close();
    await this.context.wallet.store.close();
  }
}

async function readLimits(wallet: Wallet, standard: Limits): Promise<Limits> {
  const stored = (await wallet.store.get(LIMITS_KEY))?.value as Record<string, unknown> | undefined;
  if (stored === undefined) return standard;
  return {
    maxPerRequest: parseAmount(stored["maxPerRequest"], "maxPerRequest"),
    maxPerDay: parseAmount(stored["maxPerDay"], "maxPerDay"),
  };
}
