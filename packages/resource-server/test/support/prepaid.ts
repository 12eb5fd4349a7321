// A merchant of prepaid tokens with real keys, its servers on one store, and tokens that it sold.
import { randomBytes } from "node:crypto";
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
} from "@sotto/prepaid";
import { BINDING_SLOT_SECONDS, encodeShieldedAddress } from "@sotto/protocol";
import type { PaywallEvent, PaywallOptions } from "../../src/index.ts";
import { parseConfig } from "../../src/paywall/config.ts";
import { Opening } from "../../src/paywall/opening.ts";
import { CorePaywall } from "../../src/paywall/paywall.ts";
import type { Decision, Outcome } from "../../src/paywall/types.ts";
import type { Key } from "../../src/prepaid/keyring.ts";
import { Prepaid } from "../../src/prepaid/prepaid.ts";
import { Signer } from "../../src/prepaid/signer.ts";
import { Prices } from "../../src/routes/prices.ts";
import { createRecipient, DEPLOYMENT } from "./payment.ts";

export const ORIGIN = "https://data.example";
/** Base units; the second is the price of "/paid". */
export const VALUES = [1_000n, 10_000n] as const;
export const PRICE = VALUES[1];
/** The middle of the epoch 2026-12. */
export const NOW = Date.UTC(2026, 11, 15);
/** One before NOW's, NOW's, and the next. */
const EPOCHS = 3;

const recipient = createRecipient();

interface Merchant {
  readonly schedule: PrepaidSchedule;
  readonly keys: WirePrepaidKeyFile;
}

/** RSA keys are slow to generate, so all tests of a file share these. */
export async function createMerchant(changes: Partial<PrepaidSchedule> = {}): Promise<Merchant> {
  const firstEpoch = laterEpoch(epochOf(NOW), -1);
  const keys: WirePrepaidKeyFile["keys"][number][] = [];
  const rows = Array.from({ length: EPOCHS }, (): PrepaidKey[] => []);
  for (const [i, row] of rows.entries())
    for (const value of VALUES) {
      const { key, privateKey } = await generatePrepaidKey();
      keys.push({ epoch: laterEpoch(firstEpoch, i), value: String(value), privateKey });
      row.push(key);
    }
  const { wallet } = recipient;
  const schedule = { wallet, ...DEPLOYMENT, origin: ORIGIN, firstEpoch, values: VALUES, keys: rows, ...changes };
  return { schedule, keys: { version: 1, origin: ORIGIN, keys } };
}

/** The options of a paywall of this merchant; its schedule is not signed, which only a chain checks. */
export function optionsOf({ schedule, keys }: Merchant, changes: Partial<PaywallOptions> = {}): PaywallOptions {
  const { wallet, encryptionKey, ownerTag } = recipient;
  return {
    origin: ORIGIN,
    price: PRICE,
    routes: [
      { path: "/cheap", price: VALUES[0] },
      { path: "/odd", price: 15_000n },
      { path: "/other", price: 20_000n },
    ],
    recipient: {
      wallet,
      shieldedAddress: encodeShieldedAddress({ encryptionKey, ownerTag }),
      signature: `0x${"11".repeat(65)}`,
      issuedAt: Math.floor(NOW / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS,
    },
    service: "https://pay.example/zk",
    chain: { rpcUrls: ["https://node.example"], ...DEPLOYMENT },
    prepaid: { schedules: [{ schedule: encodeSchedule(schedule), signature: `0x${"11".repeat(65)}` }], keys },
    ...changes,
  };
}

export interface PrepaidServer {
  readonly paywall: CorePaywall;
  readonly prepaid: Prepaid;
  readonly events: PaywallEvent[];
  /** Texts of the store's queries since the server opened. */
  readonly queries: string[];
  /** Moves the server's clock. */
  at(now: number): void;
  close(): Promise<void>;
}

/** A paywall without the option `prepaid`. */
export function openPlain({ prepaid: _, ...options }: PaywallOptions): CorePaywall {
  const opening = createOpening(() => undefined);
  const parts = { config: parseConfig(options), opening, prices: new Prices(options), onChallenge: undefined };
  const rest = {
    report: () => undefined,
    clock: () => NOW,
    serverClock: RIGHT,
    uses: {} as CorePaywall["uses"],
    prepaid: undefined,
  };
  return new CorePaywall({ ...parts, ...rest, end: async () => undefined });
}

/** A clock that agrees with the chain. */
const RIGHT = { problem: async () => undefined };

/** A chain that answers, and a service that does not: tokens need no service. */
const createOpening = (report: (event: PaywallEvent) => void): Opening =>
  new Opening({
    readToken: async () => ({ token: `0x${"33".repeat(20)}`, decimals: 6 }),
    checkClock: async () => undefined,
    openChecks: () => Promise.reject(Object.assign(new Error("no answer"), { code: "SERVICE_UNAVAILABLE" })),
    report,
    pause: (_ms, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  });

export async function openServer(options: PaywallOptions): Promise<PrepaidServer> {
  let now = NOW;
  const clock = () => now;
  const events: PaywallEvent[] = [];
  const queries: string[] = [];
  const report = (event: PaywallEvent) => void events.push(event);
  const config = parseConfig(options);
  const prepaid = await Prepaid.open({
    config: config.prepaid!,
    clock,
    onError: (error) => report({ event: "trouble", reason: "STORE", error }),
    onRestored: (error) => report({ event: "trouble", reason: "PREPAID_STORE_RESTORED", error }),
    onQuery: (query) => void queries.push(query),
  });
  const opening = createOpening(report);
  const uses = {} as CorePaywall["uses"];
  const end = () => prepaid.close();
  const prices = new Prices(options);
  const paywall = new CorePaywall({
    config,
    opening,
    prices,
    onChallenge: undefined,
    report,
    clock,
    serverClock: RIGHT,
    uses,
    prepaid,
    end,
  });
  const at = (time: number) => {
    now = time;
  };
  return { paywall, prepaid, events, queries, at, close: () => paywall.close() };
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
    return [...pack.finish(await signer.sign(key, pack.request))];
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
  { paywall }: { readonly paywall: Pick<CorePaywall, "decide"> },
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
