// Assembles the service: opens its parts, those that fail fastest first, and closes them again.
import type { AddressInfo } from "node:net";
import { connectChain } from "@sotto/chain";
import { lockOf } from "@sotto/prover";
import {
  Closing,
  clientIds,
  createReadiness,
  listen,
  operationRoutes,
  Reloads,
  readDeployment,
  readinessMetrics,
  type ServiceLog,
  serveMetrics,
} from "@sotto/server";
import { openCatalog } from "./artifacts/catalog.ts";
import { artifactRoutes } from "./artifacts/routes.ts";
import { assertKeysAllowed, type Config } from "./config/config.ts";
import { migrationsOf } from "./config/extensions.ts";
import { setUpDiscovery } from "./discovery/discovery.ts";
import { discoveryRoutes } from "./discovery/routes.ts";
import { createVerifyEngine } from "./engine/index.ts";
import { openExtensions } from "./extensions/open.ts";
import { createApp, translateError } from "./http/app.ts";
import { deploymentRoute } from "./http/deployment-route.ts";
import { healthAndKeyRoutes } from "./http/health-routes.ts";
import { paymentRoutes } from "./http/payment-routes.ts";
import { Admission } from "./operations/admission.ts";
import { presentPrice, startingQuotas } from "./operations/budget.ts";
import { Holds } from "./operations/hold.ts";
import { createMetrics } from "./ops/metrics.ts";
import { serviceNeeds } from "./ops/readiness.ts";
import { sampledMetrics } from "./ops/sampled-metrics.ts";
import { readRetiredKeys, retiredKeys } from "./payments/retired-keys.ts";
import { assertPool } from "./pool/facts.ts";
import { poolState } from "./pool/state.ts";
import { FeeMarket } from "./relayer/fee-market.ts";
import type { RelayerProver } from "./relayer/index.ts";
import { openProverProcess } from "./relayer-prover.ts";
import { setUpRelayer } from "./relayer-setup.ts";
import { LiveSettings } from "./reload.ts";
import { setUpAccounts } from "./signer-setup.ts";
import { openStore } from "./store/index.ts";
import { keySource } from "./token/development.ts";
import { KeyRing } from "./token/key-ring.ts";
import { TokenIssuer } from "./token/token.ts";

/** A running service. */
export interface RunningService {
  /** Base URL, with the base path. */
  readonly url: string;
  /** URL of the server's root. */
  readonly origin: string;
  /** Where `/metrics` is: at the service's root, or at the address of its own that the settings name. */
  readonly metricsUrl: string;
  readonly set: string;
  /** The relayer's first account, 20 bytes, lower-case hex with 0x. */
  readonly relayer: string;
  /**
   * Applies the live settings of a configuration that is read again: all of them, or none if reading fails or one is wrong. Logs and
   * counts the result. Requests and held settlements continue.
   * @param read reads the configuration, and throws if it is wrong
   * @returns whether they were applied
   */
  reload(read: () => Config): Promise<boolean>;
  /** All accounts of the relayer. */
  readonly relayers: readonly string[];
  /** Completes running requests, then closes everything else. May be called more than once. */
  close(): Promise<void>;
}

/** Parts that a program that embeds the service may supply. */
export interface ServiceParts {
  /** Returns the time, ms. Default: the system's. */
  clock?: (() => number) | undefined;
  /** Proves appends. Default: a child process, started with the first append. */
  prover?: RelayerProver | undefined;
}

const SWEEP_MS = 60_000;

/**
 * Starts the service.
 * @throws SottoError DEVELOPMENT_KEYS_REFUSED, ARTIFACT_DAMAGED, CHAIN_UNAVAILABLE, WRONG_CHAIN, POOL_MISSING,
 * VERIFIER_MISMATCH, TOKEN_KEY_INVALID, STORE_UNAVAILABLE, EXTENSION_INVALID, EXTENSION_FAILED, PORT_UNAVAILABLE; before
 * it throws, it closes everything that it has opened
 */
export async function startService(config: Config, log: ServiceLog, parts: ServiceParts = {}): Promise<RunningService> {
  const closing = new Closing((error) => log.error({ err: error }, "closing failed"));
  try {
    return await open(config, log, parts, closing);
  } catch (error) {
    await closing.run();
    throw error;
  }
}

async function open(settings: Config, log: ServiceLog, parts: ServiceParts, closing: Closing): Promise<RunningService> {
  const { clock = Date.now } = parts;
  const manifest = settings.deployment === undefined ? undefined : readDeployment(settings.deployment);
  const catalog = await openCatalog(settings.artifacts, lockOf(settings.artifactSet));
  assertKeysAllowed(catalog.set, settings);
  const otherKeys = readRetiredKeys(settings.otherKeys);
  const keys = await KeyRing.open(await keySource(settings), clock, (error) =>
    log.part("keys").error({ err: error }, "the token keys cannot be read; those known stay in use"),
  );
  const chainId = BigInt(settings.chainId);
  const chain = connectChain({
    urls: settings.rpcUrls,
    chainId,
    timeoutMs: settings.rpcTimeoutMs,
    log: log.part("chain"),
    clock,
  });
  const facts = await assertPool(chain, settings.pool, catalog.verificationKeys);
  const market = new FeeMarket({ ...settings, gasBudgetPerDay: settings.gasBudget, chain, clock });
  const accounts = setUpAccounts(settings, (action) => closing.add(async () => action()));
  // A reload changes the values of this object, so everything reads them from it when it needs them.
  const config = { ...settings, ...startingQuotas(settings, await presentPrice(market), log) };
  const storeLog = log.part("store");
  const store = await openStore({
    url: config.store,
    extensions: migrationsOf(config.extensions),
    clock,
    onError: (error) => storeLog.warn({ err: error }, "database"),
  });
  closing.add(() => store.close());
  const verificationKeys = { ...catalog.verificationKeys, ...otherKeys };
  const proofs = await createVerifyEngine({ verificationKeys, workers: config.workers });
  closing.add(() => proofs.close());
  const metrics = createMetrics();
  sampledMetrics({ registry: metrics.registry, config, chain, store, engine: proofs, clock });
  const clientId = clientIds(config.clientSecret);
  const clientOf = ({ ip }: { readonly ip: string }) => clientId(ip);
  const extensions = await openExtensions(config, {
    store,
    metrics: metrics.registry,
    log,
    clock,
    clientOf,
    proofs,
    closeLater: (action) => closing.add(action),
  });
  const ownProver = parts.prover === undefined ? openProverProcess(config.artifacts, catalog.set) : undefined;
  const relayer = setUpRelayer({
    config,
    store,
    chain,
    accounts,
    token: facts.token,
    prover: parts.prover ?? ownProver!,
    market,
    metrics,
    log: log.part("relayer"),
    tracing: extensions.tracing,
    clock: parts.clock,
  });
  const sweeping = setInterval(() => {
    store.sweep().catch((error: unknown) => storeLog.warn({ err: error }, "sweeping failed"));
  }, SWEEP_MS);
  closing.add(async () => clearInterval(sweeping));

  const { basePath, publicUrl } = config;
  const admission = new Admission({ config, chain, store, relayer, market, clock });
  const discovery = setUpDiscovery({ config, facts, store, clock, log: log.part("discovery") });
  closing.add(() => discovery?.close());
  const services = {
    config,
    proofs,
    retired: retiredKeys(proofs, otherKeys),
    facts,
    store,
    relayer,
    clock,
    metrics,
    admission,
    policies: extensions.policies,
    tracing: extensions.tracing,
    holds: new Holds({ limits: config, clock, onChange: metrics.held }),
    setId: catalog.id,
    pool: poolState({ chain, ledger: store.ledger, pool: config.pool, token: facts.token, clock }),
    tokens: new TokenIssuer(keys, publicUrl ?? `urn:sotto:${config.chainId}:${config.pool}`, clock),
    answers: { relayer: relayer.address, relayers: relayer.addresses, statusUrl: `${publicUrl ?? basePath}/settle` },
    discovery,
    clientOf,
  };
  const needs = serviceNeeds({ chain, store, catalog, admission, extensions: extensions.needs });
  const operations = {
    keys,
    extensions: config.extensions.map(({ extension }) => extension),
    readiness: createReadiness({ needs, closing: () => closing.begun, translate: translateError, clock }),
  };
  readinessMetrics(metrics.registry, operations.readiness);
  const metricsServer = await serveMetrics(config, metrics.registry);
  closing.add(() => metricsServer?.close());
  const app = await createApp({
    config,
    log: log.part("http"),
    metrics,
    shared: store.rates(config.clientSecret),
    routes: (root) =>
      operationRoutes(root, {
        basePath,
        metrics: metricsServer === undefined ? metrics.registry : undefined,
        health: (scope) => healthAndKeyRoutes(scope, operations),
        routes(scope) {
          deploymentRoute(scope, manifest);
          artifactRoutes(scope, catalog);
          paymentRoutes(scope, services, operations.extensions);
          if (discovery !== undefined) discoveryRoutes(scope, discovery, config.chainId);
          extensions.routes(scope);
        },
      }),
  });
  // Requests that wait for payments are answered when the relayer stops. By then their connections are marked to close.
  app.addHook("preClose", () => relayer.stop());
  closing.add(() => Promise.all([app.close(), ownProver?.close()]));
  const origin = await listen(app, { host: config.host, port: extensions.port });
  const reloads = new Reloads({ log: log.part("reload"), metrics: metrics.registry, clock });
  const live = new LiveSettings(settings, {
    ...{ config, chain, keys, relayer, market, extensions, log, clock },
    verificationKeys: catalog.verificationKeys,
  });
  relayer.start();
  discovery?.start();
  extensions.start((app.server.address() as AddressInfo).port);
  return {
    url: `${origin}${basePath}`,
    origin,
    metricsUrl: metricsServer?.url ?? `${origin}/metrics`,
    set: catalog.set,
    relayer: relayer.address,
    reload: (read) => reloads.reload(async () => live.prepare(read())),
    relayers: relayer.addresses,
    close: () => closing.run(),
  };
}
