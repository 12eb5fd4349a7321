import { quoted, SottoError } from "@sotto/protocol";
import {
  type App,
  addressOf,
  type Need,
  NO_TRACING,
  type OpenExtension,
  redact,
  ServerError,
  type ServiceCore,
  type ServiceExtension,
  type ServiceLog,
  type Tracing,
  type VerifyField,
} from "@sotto/server";
import type { Registry } from "prom-client";
import { type Config, placeOf } from "../config/config.ts";
import { Taken } from "../config/extensions.ts";
import { ServiceError } from "../errors.ts";
import { networkQuotas, quotaExceeded } from "../operations/quotas.ts";
import { verifyBody } from "../payments/schemas.ts";
import type { PaymentPolicies, ProofVerifier } from "../ports.ts";
import type { Store } from "../store/index.ts";

export interface ExtensionParts {
  readonly store: Pick<Store, "database" | "quotas">;
  readonly metrics: Registry;
  readonly log: ServiceLog;
  readonly clock: () => number;
  readonly clientOf: ServiceCore["clientOf"];
  readonly proofs: ProofVerifier;
  /** Adds an action that ends what was opened. */
  closeLater(action: () => Promise<void> | void): void;
}

export interface Extensions {
  /** The conditions of the extensions; undefined if none has one. */
  readonly policies: PaymentPolicies | undefined;
  /** Records the steps of payments. */
  readonly tracing: Tracing;
  /** The port to listen on: an extension may have needed the service's address. */
  readonly port: number;
  readonly needs: Readonly<Record<string, Need>>;
  routes(app: App): void;
  /**
   * Asks each extension to check the live settings and the nodes of a configuration that was read again.
   * @returns a function that applies them @throws the extensions' errors
   */
  prepare(next: Config): Promise<() => void>;
  /** @param port where the server listens */
  start(port: number): void;
}

/**
 * Opens all extensions, in their order.
 * @throws ServiceError EXTENSION_INVALID, EXTENSION_FAILED; the extensions' own errors
 */
export async function openExtensions(config: Config, parts: ExtensionParts): Promise<Extensions> {
  const { store, closeLater, proofs, ...rest } = parts;
  const { close: _, ...database } = store.database;
  const address = new Address(config);
  const fields = new Taken("field of /verify", Object.keys(verifyBody([]).properties));
  const open: {
    readonly name: string;
    readonly running: OpenExtension;
    readonly field: VerifyField | undefined;
  }[] = [];
  for (const { extension, settings } of config.extensions) {
    const { name } = extension;
    const core: ServiceCore = {
      ...rest,
      log: parts.log.part(name),
      settings,
      place: placeOf(config),
      nodes: nodesOf(config),
      database: () => database as never,
      verifyProof: (...statement) => proofs.verify(...statement).catch(falseIfMalformed),
      quotas: {
        ofNetworks: networkQuotas,
        takeAll: store.quotas.takeAll,
        locks: store.quotas.locks,
        takeWithin: store.quotas.takeWithin as never,
        refusal: ({ quota, resetAt }, what) => quotaExceeded(quota, resetAt, what),
      },
      address: async () => (await address.get()).service,
    };
    if (extension.admits !== undefined) takeField(extension.admits.field, name, fields);
    const running = await attempt(name, async () => extension.open(core));
    closeLater(() => running.close?.());
    assertReady(extension, running);
    assertReloads(extension, running);
    if (running.admit !== undefined && extension.admits === undefined)
      throw new ServiceError("EXTENSION_INVALID", `the extension ${name} admits payments and does not say so`);
    open.push({ name, running, field: extension.admits?.field });
  }
  const admitting = open.flatMap(({ running, field }) =>
    running.admit === undefined || field === undefined ? [] : [{ admit: running.admit.bind(running), field }],
  );
  const policies: PaymentPolicies = {
    async admit(payment, fields) {
      for (const { admit, field } of admitting) await admit(payment, shownIn(fields, field));
    },
  };
  return {
    policies: admitting.length === 0 ? undefined : policies,
    tracing: tracingOf(open),
    port: await address.port(),
    needs: Object.fromEntries(open.flatMap(({ name, running: { ready } }) => (ready ? [[name, ready]] : []))),
    routes(app) {
      for (const { name, running } of open)
        app.register(async (scope) => attempt(name, async () => running.routes?.(scope as App)));
    },
    async prepare(next) {
      const applied: (() => void)[] = [];
      for (const [index, { running }] of open.entries()) {
        const { settings = {} } = next.extensions[index] ?? {};
        const apply = await running.reload?.({ settings, nodes: nodesOf(next) });
        if (apply !== undefined) applied.push(apply);
      }
      return () => {
        for (const apply of applied) apply();
      };
    },
    start(port) {
      address.listening(port);
      for (const { name, running } of open) failing(name, () => running.start?.());
    },
  };
}

/** @throws ServiceError EXTENSION_INVALID */
function takeField({ name }: VerifyField, extension: string, fields: Taken): void {
  const by = `the extension ${extension}`;
  if (!/^[a-z][A-Za-z]{0,31}$/.test(name))
    throw new ServiceError("EXTENSION_INVALID", `${by} reads a field of /verify whose name is not 1 to 32 letters`);
  fields.take([name], by);
}

/** The value of a field; x402's bodies are not checked against the schema of /verify. @throws ServerError INVALID_REQUEST */
function shownIn(fields: Readonly<Record<string, unknown>>, { name, maxLength }: VerifyField): string | undefined {
  const shown = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (shown === undefined || (typeof shown === "string" && shown.length <= maxLength)) return shown;
  throw new ServerError("INVALID_REQUEST", `${name} must be a text of at most ${maxLength} characters`);
}

/** A proof that does not decode is not valid. */
function falseIfMalformed(error: unknown): boolean {
  if (error instanceof SottoError && /^(PROOF|SIGNAL)/.test(error.code)) return false;
  throw error;
}

/** The service's address: chosen when an extension first needs it while it opens, otherwise where the server listens. */
class Address {
  readonly #config: Config;
  readonly #listening: Promise<number>;
  listening!: (port: number) => void;
  #chosen: ReturnType<typeof addressOf> | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#listening = new Promise((resolve) => {
      this.listening = resolve;
    });
  }

  get(): ReturnType<typeof addressOf> {
    this.#chosen ??= addressOf(this.#config, this.#config.publicUrl);
    return this.#chosen;
  }

  /** The port to listen on. From now on, the server decides which one it is. */
  async port(): Promise<number> {
    if (this.#chosen !== undefined) return (await this.#chosen).port;
    this.#chosen = this.#listening.then((port) => addressOf({ ...this.#config, port }, this.#config.publicUrl));
    return this.#config.port;
  }
}

/** A check without a description would be missing in the response of the readiness endpoint. */
function assertReady({ name, readiness }: ServiceExtension, { ready }: OpenExtension): void {
  if (ready !== undefined && readiness === undefined)
    throw new ServiceError("EXTENSION_INVALID", `the extension ${name} has a readiness check and does not describe it`);
}

/** @throws ServiceError EXTENSION_INVALID */
function tracingOf(open: readonly { readonly name: string; readonly running: OpenExtension }[]): Tracing {
  const [first, second] = open.filter(({ running }) => running.tracing !== undefined);
  if (second !== undefined)
    throw new ServiceError("EXTENSION_INVALID", `the extensions ${first?.name} and ${second.name} both record traces`);
  return first?.running.tracing ?? NO_TRACING;
}

/** A live setting that nothing applies would keep its old value while the log says that it changed. */
function assertReloads({ name, settings = {} }: ServiceExtension, { reload }: OpenExtension): void {
  const isLive = Object.values(settings).some((setting) => setting.live);
  if (isLive && reload === undefined)
    throw new ServiceError("EXTENSION_INVALID", `the extension ${name} has a live setting and does not reload it`);
}

const nodesOf = ({ rpcUrls, rpcTimeoutMs }: Config): ServiceCore["nodes"] => ({
  urls: rpcUrls,
  timeoutMs: rpcTimeoutMs,
});

/** @throws ServiceError EXTENSION_FAILED, unless the extension's error has a code */
async function attempt<T>(name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw failure(name, cause);
  }
}

function failing(name: string, action: () => void): void {
  try {
    action();
  } catch (cause) {
    throw failure(name, cause);
  }
}

function failure(name: string, cause: unknown): unknown {
  if (cause instanceof SottoError) return cause;
  const why = cause instanceof Error ? redact(quoted(cause.message)) : "it threw no error";
  return new ServiceError("EXTENSION_FAILED", `the extension ${name} did not start: ${why}`, {}, { cause });
}
