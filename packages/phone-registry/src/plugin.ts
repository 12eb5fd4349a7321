// The registry for any server of @sotto/server: the verifier service mounts it, or it runs as its own server.
import { isUnavailable } from "@sotto/database";
import type { EthCall } from "@sotto/protocol";
import type { App, ServiceLog } from "@sotto/server";
import type { Registry } from "prom-client";
import { keysFor } from "./config/development-keys.ts";
import type { PhoneConfig } from "./config/phone-config.ts";
import { PhoneError } from "./errors.ts";
import { phoneRoutes } from "./http/routes.ts";
import { type PhoneMetrics, phoneMetrics } from "./ops/metrics.ts";
import { openRegistry } from "./registry/open.ts";
import type { CodeSender } from "./registry/options.ts";
import type { PhoneRegistry } from "./registry/phone-registry.ts";
import { FileSender, LogSender } from "./senders/development.ts";
import { WebhookSender } from "./senders/webhook.ts";
import { signatureChecks } from "./signatures/checks.ts";
import { ContractChecks } from "./signatures/contract-checks.ts";
import { createAssertLookup } from "./signatures/lookups.ts";

const SWEEP_MS = 60_000;

/** The dependencies of a registry within a service. */
export interface PhoneOptions {
  /** The registry's settings, without any `phoneProblems`. */
  readonly config: PhoneConfig;
  /** Public base URL, which wallets sign; equal to `config.service` if that is set. */
  readonly service: string;
  /** Calls contract wallets on the pool's chain. */
  readonly call: EthCall;
  /** Receives faults, without numbers and codes. */
  readonly log: ServiceLog;
  /** Prometheus registry. */
  readonly metrics: Registry;
  /** Sends codes; by default the configured sender. */
  readonly sender?: CodeSender | undefined;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
}

/** A registry that is part of a service. */
export interface Phone {
  /** The registry without HTTP. */
  readonly registry: PhoneRegistry;
  /** Registers the routes below the app's prefix. */
  routes(app: App): void;
  /** Uses the limits of a configuration that was checked, from the next request on. */
  configure(config: Pick<PhoneConfig, "limits" | "contractChecks">): void;
  /** Stops the timers and closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the registry.
 * @throws PhoneError DEVELOPMENT_SENDER_REFUSED; RegistryError INVALID_KEYS, KEY_MISMATCH, KEY_MISSING;
 *   DatabaseError STORE_UNAVAILABLE, STORE_TOO_NEW
 */
export async function openPhone(options: PhoneOptions): Promise<Phone> {
  const { config, service, call, log, clock = Date.now } = options;
  const { chainId, pool, unverified, limits } = config;
  const metrics = phoneMetrics(options.metrics, clock);
  const sender = counted(options.sender ?? createSender(config), metrics, log);
  const domain = { chainId, pool, service };
  const { contractChecks: perHour } = config;
  const contracts = new ContractChecks({ call, perHour, clock, count: metrics.contractCheck });
  const registry = await openRegistry({
    store: config.store,
    keys: keysFor(config),
    ...domain,
    sender,
    unverified,
    limits,
    clock,
    log,
    metrics,
    signatures: signatureChecks(domain, contracts),
  });
  const sweeping = setInterval(() => {
    registry.sweep().catch((error: unknown) => log.warn({ err: error }, "sweeping the phone registry failed"));
  }, SWEEP_MS);
  sweeping.unref();
  const { defaultCountry, countries } = config;
  const assertLookup = config.signedLookups ? createAssertLookup({ domain, contracts, registry, clock }) : undefined;
  return {
    registry,
    routes: (app) => phoneRoutes(app, { registry, assertLookup, domain, unverified, defaultCountry, countries }),
    configure(next) {
      registry.configure(next.limits);
      contracts.configure(next.contractChecks);
    },
    async close() {
      clearInterval(sweeping);
      await registry.close();
    },
  };
}

/** Creates the configured sender. @throws PhoneError DEVELOPMENT_SENDER_REFUSED */
function createSender({ sender, local }: PhoneConfig): CodeSender {
  if (sender.kind === "file") return new FileSender(sender.path, { local });
  if (sender.kind === "log") return new LogSender({ local });
  return new WebhookSender(sender);
}

/**
 * Counts and logs failures. Only errors from our own senders are logged: other errors may contain the number or the
 * code.
 */
function counted(sender: CodeSender, metrics: PhoneMetrics, log: ServiceLog): CodeSender {
  return {
    async send(message) {
      try {
        await sender.send(message);
      } catch (error) {
        metrics.code("failed");
        if (error instanceof PhoneError) log.warn({ code: error.code, why: error.message }, "a code was not sent");
        throw error;
      }
      metrics.code("sent");
    },
  };
}

/** Converts errors of database drivers. */
export const translatePhoneError = (error: unknown): PhoneError | undefined =>
  isUnavailable(error)
    ? new PhoneError(
        "STORE_UNAVAILABLE",
        "the phone registry's database is unavailable; try again",
        {},
        { cause: error },
      )
    : undefined;
