// Runs a curator as a server.
import { assertNodes, ChainError, type ChainSource, connectChain, readPool } from "@sotto/chain";
import { isUnavailable } from "@sotto/database";
import { assertAllowedOnChain, loadArtifacts } from "@sotto/prover";
import {
  CheckResult,
  Closing,
  clientIds,
  createApp,
  createReadiness,
  createRegistry,
  type HealthOptions,
  healthRoutes,
  httpMetrics,
  listen,
  liveValues,
  operationRoutes,
  type PreparedReload,
  Reloads,
  readinessMetrics,
  type ServiceLog,
  serveMetrics,
  settingChanges,
} from "@sotto/server";
import { createVerifyEngine } from "@sotto/verifier-service";
import type { CuratorConfig } from "./config/config.ts";
import { CURATOR_SETTINGS } from "./config/settings.ts";
import { Curator } from "./curator.ts";
import { CuratorError } from "./errors.ts";
import { CURATOR_ROUTE_ERRORS, claimRoute } from "./http/claims.ts";
import { fileRoutes } from "./http/files.ts";
import { curatorOpenApi } from "./http/openapi.ts";
import { createJudges } from "./judges/create.ts";
import { Rounds } from "./rounds.ts";

/** A running curator. */
export interface RunningCurator {
  /** Base URL of the files and of claims. */
  readonly url: string;
  /**
   * Applies the live settings of a configuration that is read again: all of them, or none if reading fails or one is wrong. Logs and
   * counts the result.
   * @param read reads the configuration, and throws if it is wrong
   * @returns whether they were applied
   */
  reload(read: () => CuratorConfig): Promise<boolean>;
  /** Completes the running round and running requests, then closes everything else. May be called more than once. */
  close(): Promise<void>;
}

/** Parts of a curator that the calling program supplies. */
export interface CuratorParts {
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
  /** Where the pool is read. Default: the configured nodes. */
  readonly chain?: ChainSource | undefined;
}

/**
 * Starts a curator: it follows the chain, judges deposits, signs and publishes heads, and takes claims.
 * @throws SottoError INVALID_CONFIG, WRONG_CHAIN, CHAIN_UNAVAILABLE, CIRCUIT_UNKNOWN, ARTIFACT_CHANGED, ORIGIN_STORE_MISMATCH,
 *   ORIGIN_STORE_OUTDATED, ORIGIN_STORE_DAMAGED, STORE_UNAVAILABLE, STORE_TOO_NEW, PORT_UNAVAILABLE; everything opened so far is
 *   closed
 */
export async function startCurator(
  config: CuratorConfig,
  log: ServiceLog,
  parts: CuratorParts = {},
): Promise<RunningCurator> {
  const closing = new Closing((error) => log.error({ err: error }, "closing failed"));
  try {
    return await open(config, log, parts, closing);
  } catch (error) {
    await closing.run();
    throw error;
  }
}

async function open(
  settings: CuratorConfig,
  log: ServiceLog,
  { clock = Date.now, ...parts }: CuratorParts,
  closing: Closing,
): Promise<RunningCurator> {
  // A reload changes the live values of this object.
  const config = { ...settings };
  const { set, basePath, publicUrl, folder } = config;
  const chainId = BigInt(set.chainId);
  const nodes = { chainId, log: log.part("chain"), clock };
  const own =
    parts.chain === undefined
      ? connectChain({ ...nodes, urls: config.rpcUrls, timeoutMs: config.rpcTimeoutMs })
      : undefined;
  const chain = parts.chain ?? own!;
  const { token } = await readFacts(chain, config);
  const artifacts = await loadArtifacts({ folder: config.artifacts, set: config.artifactSet });
  // With the keys of development, anyone can forge claims.
  assertAllowedOnChain(artifacts.lock, chainId, !config.local);
  const verificationKeys = {
    origin: JSON.parse(Buffer.from(await artifacts.bytes("origin", "vkey")).toString("utf8")),
  };
  const engine = await createVerifyEngine({ verificationKeys, workers: config.workers });
  closing.add(() => engine.close());
  const metrics = createRegistry(new URL("../../package.json", import.meta.url));
  const metricsServer = await serveMetrics(config, metrics);
  closing.add(() => metricsServer?.close());
  const curator = await Curator.open({
    set,
    key: config.key,
    chain,
    token,
    deploymentBlock: config.deploymentBlock,
    confirmations: config.confirmations,
    store: config.store,
    folder,
    shownAt: [...(publicUrl === undefined ? [] : [publicUrl]), ...config.mirrors],
    slotSeconds: config.slotSeconds,
    description: config.description,
    judges: (store) => createJudges(config.judges, { chain, store, log: log.part("judges"), clock }),
    verifier: engine,
    log: log.part("curator"),
    metrics,
    clock,
  });
  closing.add(() => curator.close());
  const rounds = new Rounds(() => curator.round(), config.pollMs, log.part("curator"));
  closing.add(() => {
    curator.stop();
    return rounds.stop();
  });
  const health: HealthOptions = {
    readiness: createReadiness({
      needs: {
        store: () => curator.ping().then(() => undefined),
        rounds: async () => (await rounds.check()) ?? (curator.isStalled ? { ok: false, code: "STALLED" } : undefined),
      },
      closing: () => closing.begun,
      translate,
      clock,
    }),
    summary: "Whether the database works, and the last round of the curator succeeded",
    checks: { store: CheckResult, rounds: CheckResult },
  };
  readinessMetrics(metrics, health.readiness);
  const clientOf = clientIds(config.key);
  const app = await createApp({
    config,
    log: log.part("http"),
    metrics: httpMetrics(metrics),
    translate,
    errors: CURATOR_ROUTE_ERRORS,
    openapi: curatorOpenApi(basePath),
    routes: (root) =>
      operationRoutes(root, {
        basePath,
        metrics: metricsServer === undefined ? metrics : undefined,
        health: (scope) => healthRoutes(scope, health),
        routes(scope) {
          fileRoutes(scope, folder);
          claimRoute(scope, {
            claim: (claims, client) => curator.claim(claims, client),
            clientOf: ({ ip }) => clientOf(ip),
          });
        },
      }),
  });
  closing.add(() => app.close());
  const reloads = new Reloads({ log: log.part("reload"), metrics, clock });
  const prepare = async (next: CuratorConfig): Promise<PreparedReload> => {
    const changes = settingChanges(CURATOR_SETTINGS, config as never, next as never);
    const { rpcUrls: urls, rpcTimeoutMs: timeoutMs } = next;
    if (changes.live.includes("SOTTO_RPC_URLS")) {
      const candidate = { ...nodes, urls, timeoutMs };
      await assertNodes(candidate);
      await readFacts(connectChain(candidate), config);
    }
    return {
      ...changes,
      apply() {
        Object.assign(config, liveValues(CURATOR_SETTINGS, next));
        own?.useNodes(urls, timeoutMs);
        if (changes.live.includes("SOTTO_LOG_LEVEL")) log.setLevels(next.logLevel);
      },
    };
  };
  const origin = await listen(app, config);
  rounds.start();
  return {
    url: `${origin}${basePath}`,
    reload: (read) => reloads.reload(async () => prepare(read())),
    close: () => closing.run(),
  };
}

/** Checks chain and pool. @throws CuratorError WRONG_CHAIN, CHAIN_UNAVAILABLE; ChainError POOL_NOT_DEPLOYED, POOL_MISMATCH */
async function readFacts(chain: ChainSource, { set }: CuratorConfig) {
  try {
    return await readPool(chain, set.pool);
  } catch (cause) {
    if (!(cause instanceof ChainError) || cause.code.startsWith("POOL_")) throw cause;
    if (cause.code === "WRONG_CHAIN") throw new CuratorError("WRONG_CHAIN", cause.message, {}, { cause });
    throw new CuratorError(
      "CHAIN_UNAVAILABLE",
      "no node of SOTTO_RPC_URLS responds; locally: npm run chain",
      {},
      { cause },
    );
  }
}

/** Converts errors of database drivers. */
export const translate = (error: unknown): CuratorError | undefined =>
  isUnavailable(error)
    ? new CuratorError("STORE_UNAVAILABLE", "the curator's database is unavailable; try again", {}, { cause: error })
    : undefined;
