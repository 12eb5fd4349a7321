// The catalog of resources. A settled payment only names a resource. The catalog shows what the resource's host answers
// to a request without a payment, sent a random time later. docs/x402.md has the reasons.
import { randomInt } from "node:crypto";
import type { ServiceLog } from "@sotto/server";
import type { Config } from "../config/config.ts";
import type { DueListing, ListingKey, Store } from "../store/index.ts";
import type { ServedDeployment } from "../x402/request.ts";
import { type AskHost, hostAsker } from "./host.ts";
import { listingKeyOf, NotListed } from "./listing-key.ts";
import { type ListingReader, openListingReader } from "./reader.ts";
import type { ListedResource } from "./schemas.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long a listing is shown after its host last confirmed it. */
const LIFETIME_MS = 7 * DAY_MS;
/** Hosts asked in one round. */
const AT_ONCE = 20;
/** Listings of the catalog that are loaded at once when all are checked. */
const CHECKED_AT_ONCE = 50;
const ROUND_MS = 60_000;
const LOCAL_ROUND_MS = 1_000;

/** The outcome for x402's header EXTENSION-RESPONSES. */
export type NoteResult =
  | { readonly status: "processing" }
  | { readonly status: "rejected"; readonly rejectedReason: string };

export interface DiscoveryParts {
  readonly config: Pick<Config, "local" | "discoveryDelayHours" | "discoveryHostLimit" | "discoveryLimit">;
  readonly reader: ListingReader;
  readonly store: Pick<Store, "listings">;
  readonly ask: AskHost;
  readonly clock: () => number;
  readonly log: Pick<ServiceLog, "info" | "warn">;
}

export class Discovery {
  readonly #parts: DiscoveryParts;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #closed = false;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  /** Public listings. @param payTo if defined, only listings of this recipient's wallet */
  page(payTo: string | undefined, limit: number, offset: number): ReturnType<Store["listings"]["page"]> {
    const { store, clock } = this.#parts;
    return store.listings.page({ payTo: payTo?.toLowerCase(), now: clock(), limit, offset });
  }

  start(): void {
    const { config, log } = this.#parts;
    const run = (round: () => Promise<void>, failure: string) => {
      this.#round ??= round()
        .catch((error: unknown) => {
          if (!this.#closed) log.warn({ err: error }, failure);
        })
        .finally(() => {
          this.#round = undefined;
        });
    };
    run(() => this.checkStored(), "checking the listings of the catalog failed");
    const ask = () => run(() => this.askDue(), "asking hosts for their listings failed");
    this.#timer = setInterval(ask, config.local ? LOCAL_ROUND_MS : ROUND_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#parts.reader.close();
    await this.#round;
  }

  /**
   * Remembers the resource of a settled payment. The catalog shows it after the delay, if its host agrees.
   * @param resource `extra.resource` of the payment's requirements
   * Never rejects, because the payment is settled either way.
   * @returns undefined if the payload has no extension `bazaar`, or the store does not answer
   */
  async note(extensions: unknown, resource: string): Promise<NoteResult | undefined> {
    const { config, store, clock, log } = this.#parts;
    try {
      const key = listingKeyOf(extensions, resource, config.local);
      if (key === undefined) return undefined;
      const delayMs = config.discoveryDelayHours * HOUR_MS;
      const dueAt = clock() + delayMs + randomUpTo(delayMs);
      const times = { dueAt, expiresAt: dueAt + DAY_MS };
      const limits = { perHost: config.discoveryHostLimit, inAll: config.discoveryLimit };
      if ((await store.listings.note(key, times, limits)) !== "full") return { status: "processing" };
      return { status: "rejected", rejectedReason: "the catalog has no room for another resource of this host" };
    } catch (error) {
      if (error instanceof NotListed) return { status: "rejected", rejectedReason: error.message };
      log.warn({ err: error }, "a resource could not be recorded for discovery");
      return undefined;
    }
  }

  /** Removes listings of the catalog that a host could not list today. */
  async checkStored(): Promise<void> {
    const { store, reader } = this.#parts;
    let after: ListingKey | undefined;
    do {
      const stored = await store.listings.stored(after, CHECKED_AT_ONCE);
      for (const listing of stored) {
        if (this.#closed) return;
        await this.#unlessNotListed(listing, () => reader.assertListed(listing.item));
      }
      after = stored.at(-1);
    } while (after !== undefined);
  }

  /** Asks the hosts of listings that are due, a few at a time. */
  async askDue(): Promise<void> {
    const { store, clock } = this.#parts;
    const now = clock();
    for (const due of await store.listings.takeDue(now, now + HOUR_MS, AT_ONCE)) {
      if (this.#closed) return;
      await this.#askOne(due);
    }
  }

  async #askOne(due: DueListing): Promise<void> {
    const { ask, reader, store, clock } = this.#parts;
    const now = clock();
    // A day later at a random time, so that requests to a host are unrelated to the times of payments.
    const dueAt = now + DAY_MS - 4 * HOUR_MS + randomUpTo(8 * HOUR_MS);
    const answer = await ask(due.url, due.method).catch(() => undefined);
    // Hosts have outages: a listing is kept until it expires.
    if (answer === undefined || answer.status >= 500 || answer.status === 429) return store.listings.defer(due, dueAt);
    await this.#unlessNotListed(due, async () => {
      const { key, payTo, item } = await reader.read(due, answer);
      if (key.url !== due.url) return this.#rename(due, key);
      const times = { dueAt, expiresAt: now + LIFETIME_MS };
      return store.listings.confirm(due, { item: withDay(item, due.item, now), payTo, ...times });
    });
  }

  /** Removes a listing if `action` throws NotListed. */
  async #unlessNotListed(listing: ListingKey, action: () => Promise<void>): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await action();
    } catch (error) {
      if (!(error instanceof NotListed)) throw error;
      log.info({ reason: error.message }, "a resource is not listed");
      await store.listings.remove(listing);
    }
  }

  /** The 402 names a template for the path: lists the template instead, so that the paid path is never shown. */
  async #rename(due: DueListing, key: ListingKey): Promise<void> {
    const { store, config, clock } = this.#parts;
    await store.listings.remove(due);
    const limits = { perHost: config.discoveryHostLimit, inAll: config.discoveryLimit };
    await store.listings.note(key, { dueAt: clock(), expiresAt: clock() + DAY_MS }, limits);
  }
}

/** @returns undefined if discovery is off */
export function setUpDiscovery({
  config,
  facts,
  ...parts
}: Omit<DiscoveryParts, "ask" | "config" | "reader"> & Pick<ServedDeployment, "facts"> & { readonly config: Config }):
  | Discovery
  | undefined {
  if (config.discovery === "off") return undefined;
  const reader = openListingReader({ served: { config, facts } });
  return new Discovery({ ...parts, config, reader, ask: hostAsker(config.local) });
}

const randomUpTo = (ms: number): number => (ms === 0 ? 0 : randomInt(ms));

/** Adds the day of the last change: the previous item's day if nothing else changed. */
function withDay(item: Omit<ListedResource, "lastUpdated">, previous: string, now: number): string {
  const day = new Date(Math.floor(now / DAY_MS) * DAY_MS).toISOString();
  const before = previous === "" ? undefined : (JSON.parse(previous) as ListedResource);
  const same = before !== undefined && JSON.stringify({ ...item, lastUpdated: before.lastUpdated }) === previous;
  return same ? previous : JSON.stringify({ ...item, lastUpdated: day });
}
