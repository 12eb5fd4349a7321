import { MAPPING_CACHE_MS } from "../phone/known.ts";
import type { RecipientOptions } from "../phone/recipient.ts";
import type { PurchaseOptions } from "../purchase/context.ts";
import { checkLimits, type SpendingLimits } from "../purchase/limits.ts";
import type { OnProgress } from "../purchase/progress.ts";
import { checkSplit, type SplitOptions } from "../purchase/split.ts";
import { normaliseServiceUrl } from "../service/address.ts";
import { FetchError } from "./errors.ts";
import type { ConfirmRecipient } from "./recipient.ts";
import { expectSecure } from "./secure.ts";

export interface WrapOptions extends Omit<PurchaseOptions, "signal"> {
  /** Base addresses of the services that may see payments. A 402 that names another one is refused. */
  services: readonly string[];
  /** Most base units for one request. */
  maxPerRequest: bigint;
  /** Most base units a day (UTC), of all that use this wallet's store. */
  maxPerDay?: bigint;
  /** Most base units a day at one host. */
  maxPerHost?: bigint;
  /** A host is paid under the wallet it was paid under first; false: under any that signed its address. */
  pinHosts?: boolean;
  /** Asked when a host that was paid before names another wallet. Left out: it is refused. */
  confirmRecipient?: ConfirmRecipient;
  /**
   * Base address of the registry that is asked where a 402 names a phone number: wallet and key must be that number's.
   * Left out: numbers are not looked at, the wallet's signature of its address says who is paid.
   */
  phoneRegistry?: string;
  /**
   * How a change of a number's wallet or key is confirmed, how lookups are signed, and how long a verified number is used
   * without another lookup. Left out: changes are refused, lookups are not signed, and a number is looked up once a day.
   */
  phone?: Omit<RecipientOptions, "signal">;
  /** Keeps notes ready for payments in parallel. */
  split?: SplitOptions;
  /** Bytes of a request's body that are kept for sending it again; 4 MiB if left out. */
  bodyLimit?: number;
  /** Milliseconds before a proof is shown again to a server that failed, doubled each time; 500 if left out. */
  retryDelayMs?: number;
  /** For the services; the fetch that is wrapped if left out. */
  serviceFetch?: typeof fetch;
}

/** What a single call may say beside fetch's own options. */
export interface PayingInit extends RequestInit {
  sotto?: {
    /**
     * Names the purchase: with one key something is paid once, for ever. Left out: equal requests (method, URL, body) are
     * separate purchases, but one that was not finished is taken up by the next equal request.
     */
    key?: string;
    onProgress?: OnProgress;
  };
}

export type PayingFetch = (input: RequestInfo | URL, init?: PayingInit) => Promise<Response>;

/** What a paying fetch works with, checked. */
export interface CheckedOptions {
  readonly services: readonly string[];
  readonly limits: SpendingLimits;
  /** Base address of the phone registry. */
  readonly registry: string | undefined;
}

/** @throws FetchError FETCH_OPTION_INVALID, ORIGIN_NOT_SECURE; ServiceError SERVICE_NOT_ALLOWED; SottoError INVALID_AMOUNT */
export function checkOptions(options: WrapOptions, chainId: bigint): CheckedOptions {
  const { services, maxPerRequest, maxPerDay, maxPerHost, split, phoneRegistry, phone } = Object(
    options,
  ) as WrapOptions;
  const cacheMs = phone?.cacheMs ?? 0;
  if (!Number.isSafeInteger(cacheMs) || cacheMs < 0 || cacheMs > MAPPING_CACHE_MS)
    throw new FetchError(
      "FETCH_OPTION_INVALID",
      `phone.cacheMs is ${cacheMs}, but must be 0 to ${MAPPING_CACHE_MS} ms`,
    );
  if (!Array.isArray(services) || services.length === 0)
    throw new FetchError("FETCH_OPTION_INVALID", "services must name the base address of at least one service");
  if (typeof maxPerRequest !== "bigint")
    throw new FetchError("FETCH_OPTION_INVALID", "maxPerRequest must say how many base units a request may cost");
  if (split !== undefined) checkSplit(split);
  const addresses = services.map(normaliseServiceUrl);
  const registry = phoneRegistry === undefined ? undefined : normaliseServiceUrl(phoneRegistry);
  for (const address of [...addresses, ...(registry === undefined ? [] : [registry])])
    expectSecure(new URL(address), chainId);
  return {
    services: addresses,
    registry,
    limits: checkLimits({
      perRequest: maxPerRequest,
      ...(maxPerDay === undefined ? {} : { perDay: maxPerDay }),
      ...(maxPerHost === undefined ? {} : { perHost: maxPerHost }),
    }),
  };
}
