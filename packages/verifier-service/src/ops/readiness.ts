import { artifactsPresent, type Catalog } from "../artifacts/catalog.ts";
import type { ChainReader } from "../relayer/chain/reader.ts";
import { codeOf } from "../relayer/errors.ts";
import type { Store } from "../store/index.ts";

export interface Check {
  readonly ok: boolean;
  /** Why not. */
  readonly code?: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: {
    readonly chain: Check;
    readonly store: Check;
    readonly artifacts: Check;
    readonly relayer: Check;
    /** Where the phone registry is on. */
    readonly phone?: Check;
  };
}

export interface ReadinessSources {
  readonly chain: ChainReader;
  readonly store: Pick<Store, "ping">;
  readonly catalog: Catalog;
  readonly relayer: string;
  readonly phone?: { ping(): Promise<void> } | undefined;
  /** Wei. */
  readonly leastBalance: bigint;
  readonly closing: () => boolean;
}

const CACHED_MS = 2_000;

async function check(ask: () => Promise<Check | undefined>): Promise<Check> {
  try {
    return (await ask()) ?? { ok: true };
  } catch (error) {
    return { ok: false, code: codeOf(error) };
  }
}

/** Asks everything a payment needs; several askers within two seconds share one answer. */
export function createReadiness(sources: ReadinessSources, clock = Date.now): () => Promise<Readiness> {
  let cached: { readonly at: number; readonly state: Promise<Readiness> } | undefined;
  return async () => {
    if (cached === undefined || clock() - cached.at >= CACHED_MS) cached = { at: clock(), state: look(sources) };
    const state = await cached.state;
    return sources.closing() ? { ...state, ready: false } : state;
  };
}

async function look(sources: ReadinessSources): Promise<Readiness> {
  const { chain, store, catalog, relayer, leastBalance, phone } = sources;
  const [chainState, storeState, artifacts, balance, phoneState] = await Promise.all([
    check(async () => void (await chain.head())),
    check(async () => void (await store.ping())),
    check(async () => ((await artifactsPresent(catalog)) ? undefined : { ok: false, code: "ARTIFACT_DAMAGED" })),
    check(async () =>
      (await chain.balance(relayer)) >= leastBalance ? undefined : { ok: false, code: "RELAYER_BALANCE_LOW" },
    ),
    check(async () => void (await phone?.ping())),
  ]);
  const checks = { chain: chainState, store: storeState, artifacts, relayer: balance };
  const all = phone === undefined ? checks : { ...checks, phone: phoneState };
  return { ready: Object.values(all).every(({ ok }) => ok), checks: all };
}
