import { assertSecure, FetchError, type PayingCore } from "@sotto/client";
import { assertAmount, quoted } from "@sotto/protocol";
import { dispatcherOf, normalizeServiceUrl, separateFetch } from "@sotto/wallet";
import type { UnitCounts } from "../index.ts";

/** What happened to a pack in the background. */
export type PackEvent =
  | {
      /** The pack was paid, and its tokens are in the wallet. */
      readonly kind: "bought";
      /** Origin at which the tokens are spent, such as "https://data.example". */
      readonly origin: string;
      /** Value of each token, base units. */
      readonly value: bigint;
      /** Number of tokens. */
      readonly count: number;
    }
  | {
      /** The pack was not bought. */
      readonly kind: "failed";
      /** Origin at which the tokens would be spent. */
      readonly origin: string;
      /** Value of each token, base units. */
      readonly value: bigint;
      /** Why it was not bought. */
      readonly error: unknown;
    };

/** What was charged for a request of a metered route, checked, and its change, which is in the wallet. */
export interface ChargeEvent {
  /** Origin of the merchant. */
  readonly origin: string;
  /** The HTTP method of the request. */
  readonly method: string;
  /** Path and query of the request. */
  readonly target: string;
  /** What the merchant counted: compare it with what you received. */
  readonly units: UnitCounts;
  /** Base units. */
  readonly charge: bigint;
  /** Base units that came back in new tokens. */
  readonly change: bigint;
  /** The merchant's signed receipt: JSON, as `sotto prepaid check-receipt` reads it. */
  readonly receipt: string;
}

/** Options of prepaid tokens. */
export interface PrepaidOptions {
  /** Maximum base units of unspent tokens at one host, including a pack that is being bought: the most it can withhold. */
  maxPerHost: bigint;
  /**
   * Base URLs of verifier-services, chosen by you and not by the merchant, with whose copies each key is compared before
   * a pack is bought, and the terms and the keys of change before a metered request is paid. `"services"` are those of the
   * paying fetch. With an empty list, only what this wallet has seen itself is compared.
   */
  mirrors: readonly string[] | "services";
  /**
   * Whether packs are bought in the background. Default: true. With false, only `buyPrepaid` buys, and tokens that the
   * wallet has are still spent.
   */
  buy?: boolean | undefined;
  /** Requests of one value at one host that are paid singly before the first pack is bought. Default: 3. */
  buyAfter?: number | undefined;
  /**
   * Maximum milliseconds between the need for a pack and its purchase, which happens at a random time in between.
   * Default: 60,000.
   */
  maxDelayMs?: number | undefined;
  /**
   * The fetch for schedules, mirrors and packs; it must not share connections or cookies with other requests. Default:
   * in Node, if the wrapped fetch is the global one, a new connection for each request; otherwise the wrapped fetch
   * without cookies. Needed if your program sets a dispatcher for fetch, such as a proxy.
   */
  fetch?: typeof fetch | undefined;
  /** Called after each purchase in the background. */
  onPack?: ((event: PackEvent) => void) | undefined;
  /** Called when the charge of a metered request is known and its change has arrived. */
  onCharge?: ((event: ChargeEvent) => void) | undefined;
  /** Returns a random number from 0 to 1, without 1. Default: from the platform's cryptographic generator. */
  random?: (() => number) | undefined;
}

/** The checked options. */
export interface PrepaidSettings {
  readonly maxPerHost: bigint;
  readonly mirrors: readonly string[];
  readonly buy: boolean;
  readonly buyAfter: number;
  readonly maxDelayMs: number;
  readonly send: typeof fetch;
  /**
   * Refuses the dispatcher of a request or of the process, such as a proxy, if `send` would bypass it: the merchant would
   * see the address that it hides.
   * @throws FetchError FETCH_OPTION_INVALID
   */
  readonly assertNoDispatcher: (init?: object) => void;
  readonly onPack: (event: PackEvent) => void;
  readonly onCharge: (event: ChargeEvent) => void;
  readonly random: () => number;
}

const OPTIONS = {
  ...{ maxPerHost: true, mirrors: true, buy: true, buyAfter: true, maxDelayMs: true },
  ...{ fetch: true, onPack: true, onCharge: true, random: true },
} satisfies Record<keyof PrepaidOptions, true>;

const MAX_MIRRORS = 8;
const BUY_AFTER = 3;
const MAX_DELAY_MS = 60_000;

function count(value: unknown, name: string, min: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= 1e9) return value;
  throw new FetchError("FETCH_OPTION_INVALID", `prepaid.${name} must be an integer from ${min} to 1000000000`);
}

const fraction = (): number => crypto.getRandomValues(new Uint32Array(1))[0]! / 2 ** 32;

function assertNoDispatcher(init: object = {}): void {
  const name = dispatcherOf(init);
  if (name === undefined) return;
  throw new FetchError(
    "FETCH_OPTION_INVALID",
    `fetch uses a dispatcher of this program (${name}), but packs of prepaid tokens are bought on connections of their ` +
      "own, which would bypass it; set prepaid.fetch to a fetch that uses it, or remove prepaid from methods",
  );
}

/** What options depend on. */
export type PrepaidSource = Pick<PayingCore, "fetch" | "services"> & {
  readonly wallet: { readonly pool: Pick<PayingCore["wallet"]["pool"], "chainId"> };
};

/** @throws FetchError FETCH_OPTION_INVALID, ORIGIN_NOT_SECURE; ServiceClientError; SottoError INVALID_AMOUNT */
export function parsePrepaidOptions(options: PrepaidOptions, core: PrepaidSource): PrepaidSettings {
  const given = Object(options) as PrepaidOptions;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) throw new FetchError("FETCH_OPTION_INVALID", `prepaid has no option ${quoted(unknown)}`);
  const { maxPerHost, buy, buyAfter, maxDelayMs, random, onPack, onCharge } = given;
  const { fetch: send, wallet, services } = core;
  const mirrors = given.mirrors === "services" ? services : given.mirrors;
  if (!Array.isArray(mirrors) || mirrors.length > MAX_MIRRORS)
    throw new FetchError("FETCH_OPTION_INVALID", `prepaid.mirrors must be a list of at most ${MAX_MIRRORS} base URLs`);
  const urls = mirrors.map(normalizeServiceUrl);
  for (const url of urls) assertSecure(new URL(url), wallet.pool.chainId);
  const own = given.fetch === undefined && send === globalThis.fetch ? separateFetch() : undefined;
  if (own !== undefined) assertNoDispatcher();
  return {
    maxPerHost: assertAmount(maxPerHost, "prepaid.maxPerHost"),
    mirrors: urls,
    buy: buy !== false,
    buyAfter: count(buyAfter ?? BUY_AFTER, "buyAfter", 0),
    maxDelayMs: count(maxDelayMs ?? MAX_DELAY_MS, "maxDelayMs", 0),
    send: given.fetch ?? own ?? ((input, init) => send(input, init)),
    assertNoDispatcher: own === undefined ? () => undefined : assertNoDispatcher,
    onPack: onPack ?? (() => undefined),
    onCharge: onCharge ?? (() => undefined),
    random: random ?? fraction,
  };
}
