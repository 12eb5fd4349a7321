// Runs the registry as its own server.
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
  operationRoutes,
  readinessMetrics,
  SERVER_ERRORS,
  type ServiceLog,
  serveMetrics,
} from "@sotto/server";
import type { RegistryConfig } from "./config/registry-config.ts";
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
  config: RegistryConfig,
  log: ServiceLog,
  { sender, clock = Date.now }: RegistryParts,
  closing: Closing,
): Promise<RunningRegistry> {
  const { host, basePath, rpcUrls, rpcTimeoutMs, phone: phoneSettings } = config;
  const { chainId } = phoneSettings;
  const chain = openSignatureChain({ urls: rpcUrls, chainId, timeoutMs: rpcTimeoutMs, log, clock });
  await assertSomeNode(chain);
  const call = chainCall(chain);
  const { port, service } = await addressOf(config, phoneSettings.service);
  const metrics = createRegistry(new URL("../package.json", import.meta.url));
  const metricsServer = await serveMetrics(config, metrics);
  closing.add(() => metricsServer?.close());
  const phone = await openPhone({ config: phoneSettings, service, call, log, metrics, sender, clock });
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
    log,
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
  const origin = await listen(app, { host, port });
  return { url: `${origin}${basePath}`, service, registry, close: () => closing.run() };
}
