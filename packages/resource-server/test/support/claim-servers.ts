// Servers of one wallet that share a store, in either database.

import { join } from "node:path";
import { openDatabase } from "@sotto/database";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { type Claim, PaymentClaims } from "../../src/claims/claims.ts";
import { CLAIM_MIGRATIONS, type ClaimSchema } from "../../src/claims/schema.ts";
import { type ClaimRequest, ClaimStore } from "../../src/claims/store.ts";

/** Long enough that no lease expires by itself, even on a slow machine. */
export const LEASE_MS = 60_000;
export const MINUTE = 60_000;

let counter = 0;
export const payment = (changes: Partial<ClaimRequest> = {}): ClaimRequest => ({
  id: `31337:0xpool:${++counter}`,
  digest: "0x01",
  resource: "https://data.example/a",
  expiresAt: Date.now() + 6 * MINUTE,
  ...changes,
});

const folder = temporaryFolder("claims");
let postgres: Promise<TestPostgres> | undefined;

/** Each returns the URL of an empty database. */
export const BACKENDS: Readonly<Record<string, () => Promise<string>>> = {
  SQLite: async () => `sqlite:${join(folder, `${++counter}.sqlite`)}`,
  PostgreSQL: async () => {
    postgres ??= startPostgres();
    return (await postgres).database();
  },
};

// Root hook: runs once, after all files.
after(async () => {
  await (await postgres)?.stop();
});

export interface Server {
  readonly store: ClaimStore;
  readonly claims: PaymentClaims;
}

export class Servers {
  readonly url: string;
  readonly errors: unknown[] = [];
  readonly #opened = new Set<PaymentClaims>();

  constructor(url: string) {
    this.url = url;
  }

  async open(): Promise<Server> {
    const onError = (error: unknown) => this.errors.push(error);
    const options = { leaseMs: LEASE_MS, retentionMs: 0, onError };
    const store = await ClaimStore.open({ url: this.url, clock: Date.now, ...options });
    const claims = new PaymentClaims(store, Date.now, onError);
    this.#opened.add(claims);
    return { store, claims };
  }

  /** Moves the stored times back by `ms`, independently of the database's clock. */
  async elapse(ms: number): Promise<void> {
    const tables = { url: this.url, name: "paywall", migrations: CLAIM_MIGRATIONS };
    const database = await openDatabase<ClaimSchema>(tables);
    const rows = database.db.updateTable("payment_claim");
    await rows
      .set((row) => ({ lease_until: row("lease_until", "-", ms), expires_at: row("expires_at", "-", ms) }))
      .execute();
    await database.close();
  }

  async stop({ claims }: Server): Promise<void> {
    this.#opened.delete(claims);
    await claims.close();
  }

  /** Closes all servers, and asserts that no background work failed. */
  async close(): Promise<void> {
    for (const claims of this.#opened) await claims.close();
    expect(this.errors).to.deep.equal([]);
  }
}

/** Acquires a payment; resolves to the failure if it is refused. */
export const acquire = (request: ClaimRequest, { claims }: Server): Promise<Claim | string> =>
  claims.acquire(request).then(
    (claim) => claim,
    ({ failure }: { failure: string }) => failure,
  );

export async function acquired(request: ClaimRequest, server: Server): Promise<Claim> {
  const claim = await acquire(request, server);
  if (typeof claim === "string") throw new Error(`not acquired: ${claim}`);
  return claim;
}
