// Runs the registry as its own server.
import { assertNodes } from "@sotto/chain";
import {
  addressOf,
  CheckResult,
  Closing,
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
  SERVER_ERRORS,
  type ServiceLog,
  serveMetrics,
  settingChanges,
} from "@sotto/server";
import type { RegistryConfig } from "./config/registry-config.ts";
import { REGISTRY_SETTINGS } from "./config/settings.ts";
import { PHONE_ROUTE_ERRORS } from "./error-definitions.ts";
import { registryOpenApi } from "./http/openapi.ts";
import { openPhone, translatePhoneError } from "./plugin.ts";
import type { CodeSender } from "./registry/options.ts";
import type { PhoneRegistry } from "./registry/phone-registry.ts";
import { assertSomeNode, chainCall, openSignatureChain } from "./signatures/chain.ts";
import { LOOKUP_HEADERS } from "./signatures/lookups.ts";

/** A registry that runs alone. */
export interface RunningRegistry {
  /** Base URL, with the base path. */
  readonly url: string;
  /** The public base URL, which wallets sign as `service`. */
  readonly service: string;
  /** The registry without HTTP. */
  readonly registry: PhoneRegistry;
  /**
   * Applies the live settings of a configuration that is read again: all of them, or none if reading fails or one is wrong. Logs and
   * counts the result.
   * @param read reads the configuration, and throws if it is wrong
   * @returns whether they were applied
   */
  reload(read: () => RegistryConfig): Promise<boolean>;
  /** Completes running requests, then closes everything else. May be called more than once. */
  close(): Promise<void>;
}

/** Parts of a registry that the calling program supplies. */
export interface RegistryParts {
  /** Sends codes; by default the configured sender. */
  readonly sender?: CodeSender | undefined;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
}

/**
 * Starts the registry.
 * @throws SottoError INVALID_CONFIG, DEVELOPMENT_SENDER_REFUSED, WRONG_CHAIN, CHAIN_UNAVAILABLE, INVALID_KEYS,
 *   KEY_MISMATCH, KEY_MISSING, STORE_UNAVAILABLE, STORE_TOO_NEW, PORT_UNAVAILABLE; everything opened so far is closed
 */
export async function startRegistry(
  config: RegistryConfig,
  log: ServiceLog,
  parts: RegistryParts = {},
): Promise<RunningRegistry> {
  const closing = new Closing((error) => log.error({ err: error }, "closing failed"));
  try {
    return await open(config, log, parts, closing);
  } catch (error) {
    await closing.run();
    throw error;
  }
}

async function open(
  settings: RegistryConfig,
  log: ServiceLog,
  { sender, clock = Date.now }: RegistryParts,
  closing: Closing,
): Promise<RunningRegistry> {
  // A reload changes the live values of this object.
  const config = { ...settings };
  const { host, basePath, rpcUrls, rpcTimeoutMs, phone: phoneSettings } = config;
  const { chainId } = phoneSettings;
  const nodes = { chainId, log: log.part("chain"), clock };
  const chain = openSignatureChain({ ...nodes, urls: rpcUrls, timeoutMs: rpcTimeoutMs });
  await assertSomeNode(chain);
  const call = chainCall(chain);
  const { port, service } = await addressOf(config, phoneSettings.service);
  const metrics = createRegistry(new URL("../package.json", import.meta.url));
  const metricsServer = await serveMetrics(config, metrics);
  closing.add(() => metricsServer?.close());
  const phone = await openPhone({
    config: phoneSettings,
    service,
    call,
    log: log.part("phone"),
    metrics,
    sender,
    clock,
  });
  closing.add(() => phone.close());
  const { registry } = phone;
  const needs = {
    store: async () => void (await registry.ping()),
    chain: async () => void (await assertSomeNode(chain)),
  };
  const health: HealthOptions = {
    readiness: createReadiness({ needs, closing: () => closing.begun, translate: translatePhoneError, clock }),
    summary: "Whether the database and the chain work",
    checks: { store: CheckResult, chain: CheckResult },
  };
  readinessMetrics(metrics, health.readiness);
  const app = await createApp({
    config,
    log: log.part("http"),
    metrics: httpMetrics(metrics),
    translate: translatePhoneError,
    errors: { ...SERVER_ERRORS, ...PHONE_ROUTE_ERRORS },
    openapi: registryOpenApi(basePath),
    cors: { allow: LOOKUP_HEADERS },
    routes: (root) =>
      operationRoutes(root, {
        basePath,
        metrics: metricsServer === undefined ? metrics : undefined,
        health: (scope) => healthRoutes(scope, health),
        routes: phone.routes,
      }),
  });
  closing.add(() => app.close());
  const reloads = new Reloads({ log: log.part("reload"), metrics, clock });
  const prepare = async (next: RegistryConfig): Promise<PreparedReload> => {
    const changes = settingChanges(REGISTRY_SETTINGS, config as never, next as never);
    const { rpcUrls: urls, rpcTimeoutMs: timeoutMs } = next;
    if (changes.live.includes("SOTTO_RPC_URLS")) await assertNodes({ ...nodes, urls, timeoutMs });
    return {
      ...changes,
      apply() {
        Object.assign(config, liveValues(REGISTRY_SETTINGS, next));
        phone.configure(next.phone);
        chain.useNodes(urls, timeoutMs);
        if (changes.live.includes("SOTTO_LOG_LEVEL")) log.setLevels(next.logLevel);
      },
    };
  };
  const origin = await listen(app, { host, port });
  return {
    url: `${origin}${basePath}`,
    service,
    registry,
    reload: (read) => reloads.reload(async () => prepare(read())),
    close: () => closing.run(),
  };
}
