import { assertNodes, type Chain, connectChain } from "@sotto/chain";
import type { PreparedReload, ServiceLog } from "@sotto/server";
import { type Config, liveConfig } from "./config/config.ts";
import type { Extensions } from "./extensions/open.ts";
import { presentPrice, type Quotas, startingQuotas } from "./operations/budget.ts";
import { assertPool } from "./pool/facts.ts";
import { FeeMarket, type Relayer } from "./relayer/index.ts";
import { relayerLimits } from "./relayer-setup.ts";
import { keySource } from "./token/development.ts";
import type { KeyRing } from "./token/key-ring.ts";

/** The parts of a running service that live settings change. */
export interface LiveParts {
  /** The values that the service reads. */
  readonly config: Config & Quotas;
  readonly chain: Chain;
  readonly keys: KeyRing;
  readonly relayer: Pick<Relayer, "prepare">;
  readonly market: FeeMarket;
  readonly extensions: Pick<Extensions, "prepare">;
  readonly log: ServiceLog;
  readonly clock: () => number;
  /** The keys that the pool's verifiers must have. */
  readonly verificationKeys: Parameters<typeof assertPool>[2];
}

/** The variables that the quotas of one client depend on. */
const BUDGET = ["SOTTO_GAS_BUDGET", "SOTTO_CLIENT_QUOTA", "SOTTO_SPONSOR_QUOTA", "SOTTO_QUOTAS_BEYOND_BUDGET"];
const NODES = ["SOTTO_RPC_URLS", "SOTTO_RPC_TIMEOUT_MS"];

/** Applies new values of live settings to a running service. */
export class LiveSettings {
  /** The configuration in use, as it was read: `LiveParts.config` has derived values too. */
  #running: Config;
  readonly #parts: LiveParts;

  constructor(running: Config, parts: LiveParts) {
    this.#running = running;
    this.#parts = parts;
  }

  /**
   * Checks the live settings of a configuration that was read again, as at the start.
   * @throws SottoError WRONG_CHAIN, CHAIN_UNAVAILABLE, POOL_MISSING, VERIFIER_MISMATCH, TOKEN_KEY_INVALID, QUOTAS_BEYOND_BUDGET,
   * INVALID_RELAYER_OPTION, a fault of a node, and the extensions' errors
   */
  async prepare(next: Config): Promise<PreparedReload> {
    const { config, chain, keys, relayer, extensions, log } = this.#parts;
    const { config: wanted, changes } = liveConfig(this.#running, next);
    const differs = (variables: readonly string[]) => changes.live.some((variable) => variables.includes(variable));
    const candidate = differs(NODES) ? await this.#connect(wanted) : undefined;
    const useKeys = await keys.prepare(await keySource(wanted));
    const limitRelayer = relayer.prepare(relayerLimits(wanted));
    const configureExtensions = await extensions.prepare(wanted);
    const quotas = differs(BUDGET) ? await this.#quotas(wanted, candidate) : undefined;
    return {
      ...changes,
      apply: () => {
        if (candidate !== undefined) chain.useNodes(wanted.rpcUrls, wanted.rpcTimeoutMs);
        const { clientQuota, sponsorQuota } = quotas ?? config;
        Object.assign(config, wanted, { clientQuota, sponsorQuota });
        useKeys();
        limitRelayer();
        configureExtensions();
        if (differs(["SOTTO_LOG_LEVEL"])) log.setLevels(wanted.logLevel);
        this.#running = wanted;
      },
    };
  }

  /** Connects to new nodes, which must know the pool. */
  async #connect({ rpcUrls: urls, rpcTimeoutMs: timeoutMs, chainId, pool }: Config): Promise<Chain> {
    const { clock, verificationKeys } = this.#parts;
    const options = { urls, timeoutMs, chainId: BigInt(chainId), clock };
    await assertNodes(options);
    const chain = connectChain(options);
    await assertPool(chain, pool, verificationKeys);
    return chain;
  }

  #quotas(wanted: Config, candidate: Chain | undefined): Promise<Quotas> {
    const { market, log, clock } = this.#parts;
    const asked =
      candidate === undefined
        ? market
        : new FeeMarket({ ...wanted, gasBudgetPerDay: wanted.gasBudget, chain: candidate, clock });
    return presentPrice(asked).then((price) => startingQuotas(wanted, price, log));
  }
}
