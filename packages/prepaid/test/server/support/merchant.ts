// A merchant of prepaid tokens with real keys, its servers on one store, and tokens that it sold.
import { randomBytes } from "node:crypto";
import { BINDING_SLOT_SECONDS, deriveKeys, encodeShieldedAddress, randomSeed } from "@sotto/protocol";
import {
  createPaywall,
  type Decision,
  type Outcome,
  type Paywall,
  type PaywallEvent,
  type PaywallOptions,
} from "@sotto/resource-server";
import {
  encodePrepaidHeader,
  encodeSchedule,
  epochOf,
  generatePrepaidKey,
  laterEpoch,
  type PrepaidKey,
  type PrepaidSchedule,
  type PrepaidToken,
  prepaidKey,
  preparePrepaidPack,
  type WirePrepaidKeyFile,
} from "../../../src/index.ts";
import type { Key } from "../../../src/server/keyring.ts";
import type { MeteredOptions } from "../../../src/server/metered/config.ts";
import { type MeteredMethod, meteredCredit } from "../../../src/server/metered/method.ts";
import { createPrepaid, type PrepaidMethod } from "../../../src/server/method.ts";
import type { PrepaidOptions } from "../../../src/server/options.ts";
import type { Prepaid } from "../../../src/server/prepaid.ts";
import { Signer } from "../../../src/server/signer.ts";
import { startPoolNode } from "./pool-node.ts";

export const DEPLOYMENT = { chainId: 31337n, pool: `0x${"11".repeat(20)}` } as const;
export const ORIGIN = "https://data.example";
/** Base units; the second is the price of "/paid". */
export const VALUES = [1_000n, 10_000n] as const;
export const PRICE = VALUES[1];
/** The middle of the epoch 2026-12. */
export const NOW = Date.UTC(2026, 11, 15);
/** One before NOW's, NOW's, and the next. */
const EPOCHS = 3;

const recipient = deriveKeys(randomSeed(), DEPLOYMENT);
export const WALLET = `0x${"22".repeat(20)}` as const;

export interface Merchant {
  readonly schedule: PrepaidSchedule;
  readonly keys: WirePrepaidKeyFile;
}

/** RSA keys are slow to generate, so all tests of a file share these. */
export async function createMerchant(
  changes: Partial<PrepaidSchedule> = {},
  values: readonly bigint[] = VALUES,
): Promise<Merchant> {
  const firstEpoch = laterEpoch(epochOf(NOW), -1);
  const keys: WirePrepaidKeyFile["keys"][number][] = [];
  const rows = Array.from({ length: EPOCHS }, (): PrepaidKey[] => []);
  for (const [i, row] of rows.entries())
    for (const value of values) {
      const { key, privateKey } = await generatePrepaidKey();
      keys.push({ epoch: laterEpoch(firstEpoch, i), value: String(value), privateKey });
      row.push(key);
    }
  const schedule = {
    wallet: WALLET,
    ...DEPLOYMENT,
    origin: ORIGIN,
    firstEpoch,
    values,
    keys: rows,
    ...changes,
  };
  return { schedule, keys: { version: 1, origin: ORIGIN, keys } };
}

export interface ServerOptions extends PaywallOptions {
  readonly prepaid: PrepaidOptions;
  readonly metered?: Omit<MeteredOptions, "prepaid">;
}

/** The options of a paywall of this merchant; its node accepts every signature. */
export function optionsOf({ schedule, keys }: Merchant, changes: Partial<ServerOptions> = {}): ServerOptions {
  return {
    origin: ORIGIN,
    price: PRICE,
    routes: [
      { path: "/cheap", price: VALUES[0] },
      { path: "/odd", price: 15_000n },
      { path: "/other", price: 20_000n },
    ],
    recipient: {
      wallet: WALLET,
      shieldedAddress: encodeShieldedAddress({
        encryptionKey: recipient.encryptionKey,
        ownerTag: recipient.ownerTag(0),
      }),
      signature: `0x${"11".repeat(65)}`,
      issuedAt: Math.floor(NOW / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS,
    },
    // Does not answer: tokens need no service.
    service: "http://127.0.0.1:1/zk",
    chain: { rpcUrls: ["https://node.example"], ...DEPLOYMENT },
    prepaid: { schedules: [{ schedule: encodeSchedule(schedule), signature: `0x${"11".repeat(65)}` }], keys },
    ...changes,
  };
}

export interface PrepaidServer {
  readonly paywall: Paywall;
  readonly prepaid: Prepaid;
  totals: PrepaidMethod["totals"];
  /** The method of metered credit, if the server has it. */
  credit: MeteredMethod | undefined;
  readonly events: PaywallEvent[];
  /** Texts of the store's queries since the server opened. */
  readonly queries: string[];
  /** Moves the server's clock. */
  at(now: number): void;
  close(): Promise<void>;
}

/** A paywall without prepaid tokens. */
export async function openPlain({
  prepaid: _,
  metered: _metered,
  ...options
}: ServerOptions): Promise<Pick<Paywall, "decide" | "close">> {
  const clock = () => NOW;
  const node = await startPoolNode(clock);
  const chain = { ...options.chain, rpcUrls: [node.url] };
  const paywall = await createPaywall({ ...options, chain, clock, onEvent: () => undefined });
  return { decide: (request) => paywall.decide(request), close: () => paywall.close().finally(() => node.close()) };
}

export async function openServer({ prepaid: own, metered, ...options }: ServerOptions): Promise<PrepaidServer> {
  let now = NOW;
  const clock = () => now;
  const events: PaywallEvent[] = [];
  const queries: string[] = [];
  let prepaid: Prepaid | undefined;
  const method = createPrepaid(own, {
    onQuery: (query) => void queries.push(query),
    onOpen: (opened) => {
      prepaid = opened;
    },
  });
  const node = await startPoolNode(clock);
  const chain = { ...options.chain, rpcUrls: [node.url] };
  const onEvent = (event: PaywallEvent) => void events.push(event);
  const credit = metered === undefined ? undefined : meteredCredit({ ...metered, prepaid: method });
  const methods = credit === undefined ? [method] : [method, credit];
  const opened = createPaywall({ ...options, chain, clock, onEvent, methods });
  opened.catch(() => node.close());
  const paywall = await opened;
  const at = (time: number) => {
    now = time;
  };
  const close = () => paywall.close().finally(() => node.close());
  return { paywall, prepaid: prepaid!, totals: method.totals, credit, events, queries, at, close };
}

/** Buys tokens of a value without paying: signs a batch as a purchase does. */
export async function tokensOf(
  { prepaid }: PrepaidServer,
  count: number,
  { value = PRICE, now = NOW, origin = ORIGIN }: { value?: bigint; now?: number; origin?: string } = {},
): Promise<PrepaidToken[]> {
  const key = prepaid.keyring.offered(value, now) as Key;
  const modulus = BigInt(`0x${key.modulus.toString("hex")}`);
  const pack = preparePrepaidPack(new Uint8Array(randomBytes(32)), prepaidKey(modulus), origin, count);
  const signer = new Signer(1);
  try {
    return [...pack.finish(await signer.sign(new Array<Key>(count).fill(key), pack.request))];
  } finally {
    await signer.close();
  }
}

export interface Shown {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

export const showing = (token: PrepaidToken): Record<string, string[]> => ({
  "x-payment-token": [encodePrepaidHeader(token)],
});

export const ask = (
  { paywall }: { readonly paywall: Pick<Paywall, "decide"> },
  { method = "GET", target = "/paid", headers = {} }: Shown = {},
) => paywall.decide({ method, target, header: (name) => headers[name] ?? [] });

export const show = (server: PrepaidServer, token: PrepaidToken, shown: Shown = {}): Promise<Decision> =>
  ask(server, { ...shown, headers: { ...showing(token), ...shown.headers } });

/** "paid", or the status of a refusal, with " later" if it has a Retry-After. */
export function told(decision: Decision): string {
  if (decision.kind !== "refused") return decision.kind;
  return `${decision.status}${"retry-after" in decision.headers ? " later" : ""}`;
}

export async function finish(decision: Decision, outcome: Outcome): Promise<void> {
  if (decision.kind !== "paid") throw new Error(`not paid: ${told(decision)}`);
  await decision.finish(outcome);
}
