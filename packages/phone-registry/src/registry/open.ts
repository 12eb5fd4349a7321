import { openDatabase } from "@sotto/database";
import { codeOf } from "@sotto/server";
import { KeyRing } from "../crypto/key-ring.ts";
import { RegistryError } from "../errors.ts";
import { UnknownWatch } from "../quotas/watch.ts";
import { assertKeys } from "../store/keys.ts";
import { MIGRATIONS } from "../store/migrations.ts";
import { consume } from "../store/once.ts";
import { Records } from "../store/records.ts";
import type { Schema } from "../store/schema.ts";
import { check } from "./check.ts";
import type { Context } from "./context.ts";
import { limitsOf } from "./limits.ts";
import { link } from "./link.ts";
import type { RegistryOperation, RegistryOptions } from "./options.ts";
import type { PhoneRegistry } from "./phone-registry.ts";
import { assertFields } from "./requests.ts";
import { resolve } from "./resolve.ts";
import { rotate, rotation } from "./rotate.ts";
import { sweep } from "./sweep.ts";
import type { Mapping, NonceUse } from "./types.ts";
import { erase, unlink } from "./unlink.ts";
import { verify } from "./verify.ts";

/** Nonces are remembered until their deadline, so it must not be further ahead than this, s. */
const MAX_DEADLINE_SECONDS = 3_600;

/** Interval between checks of all links, ms. */
const CHECK_MS = 3_600_000;

/**
 * Opens the registry's database and checks that it was written with these keys.
 * @throws RegistryError INVALID_OPTIONS, INVALID_KEYS, KEY_MISMATCH, KEY_MISSING
 * @throws DatabaseError INVALID_STORE_URL, STORE_UNAVAILABLE, STORE_TOO_NEW
 */
export async function openRegistry(options: RegistryOptions): Promise<PhoneRegistry> {
  const { store, keys, clock = Date.now, onWork = () => undefined, log, metrics } = options;
  // An object of its own, which `configure` changes.
  const limits = { ...limitsOf(options.limits) };
  const ring = new KeyRing(keys, onWork);
  const database = await openDatabase<Schema>({
    url: store,
    name: "phone_registry",
    migrations: MIGRATIONS,
    clock,
    secureDelete: true,
    onError: () => log?.warn({}, "a connection to the registry's database was lost"),
    onQuery: () => onWork("query"),
  });
  try {
    await database.transaction(["phone-registry-keys"], (db) => assertKeys(db, ring));
  } catch (error) {
    await database.close();
    throw error;
  }
  const context: Context = { database, ring, records: new Records(ring), limits, options, clock };
  const watch = new UnknownWatch();
  let closed = false;
  let nextCheck = 0;

  /** Runs an operation unless the registry is closed, and counts its outcome. */
  async function run<T>(name: RegistryOperation, action: () => Promise<T>, outcome: (value: T) => string) {
    if (closed) throw new RegistryError("REGISTRY_CLOSED", "the registry is closed");
    try {
      const value = await action();
      metrics?.count(name, outcome(value));
      return value;
    } catch (error) {
      metrics?.count(name, codeOf(error, "INTERNAL"));
      if (error instanceof RegistryError && error.code === "RECORD_TAMPERED")
        log?.error({ operation: name }, "a record of the registry was tampered with");
      throw error;
    }
  }
  const ok = () => "ok";
  const seen = (mapping: Mapping | undefined) => {
    const { share, lookups } = watch.add(mapping === undefined);
    metrics?.unknownShare(share, lookups);
    if (mapping === undefined) return "unknown";
    return mapping.verified ? "ok" : "unverified";
  };

  const registry: PhoneRegistry = {
    kind: database.kind,
    link: (request) => run("link", () => link(context, request), ok),
    verify: (request) => run("verify", () => verify(context, request), ok),
    resolve: (request) => run("resolve", () => resolve(context, request), seen),
    unlink: (request) => run("unlink", () => unlink(context, request), ok),
    erase: (request) => run("erase", () => erase(context, request), ok),
    useNonce: (use) => run("nonce", () => useNonce(context, use), ok),
    rotate: (rotateOptions) => run("rotate", () => rotate(context, rotateOptions), ok),
    rotation: () => rotation(context),
    check: (checkOptions) => run("check", () => check(context, checkOptions), ok),
    async sweep() {
      await run("sweep", () => sweep(context), ok);
      if (clock() < nextCheck) return;
      nextCheck = clock() + CHECK_MS;
      // `run` counts and logs errors. Tampered links must not stop the sweep.
      await registry.check().catch((error: unknown) => {
        if (!(error instanceof RegistryError)) throw error;
      });
    },
    configure(next) {
      // Only these: a server hands in all limits of its new settings, also those that need a restart.
      const { codes, tries, lookups, linkedPercent } = limitsOf(next);
      Object.assign(limits, { codes, tries, lookups, linkedPercent });
    },
    ping: () => database.ping(),
    async close() {
      if (closed) return;
      closed = true;
      await database.close();
    },
  };
  return registry;
}

async function useNonce({ database, ring, clock }: Context, use: NonceUse): Promise<void> {
  assertFields(use, "wallet", "nonce", "deadline");
  const { wallet, nonce, deadline } = use;
  const now = clock();
  const refuse = (what: string) => new RegistryError("NONCE_REFUSED", what);
  if (deadline * 1000 <= now) throw refuse("the deadline of the request has passed");
  if (deadline > now / 1000 + MAX_DEADLINE_SECONDS) throw refuse("the deadline of the request is too far ahead");
  // Remembered a minute longer, for replicas whose clocks are behind.
  const fresh = await database.transaction([`phone-nonce:${wallet}`], (db) =>
    consume(db, ring, "nonce", [wallet, nonce], deadline * 1000 + 60_000),
  );
  if (!fresh) throw refuse("the nonce was used before");
}
