import { setTimeout as sleep } from "node:timers/promises";
import { authSchemes, isAuthScheme } from "@sotto/protocol/extend";
import { invalidOption } from "../errors.ts";
import { startPaywall } from "../paywall/create.ts";
import type { PaywallOptions } from "../paywall/options.ts";
import type { Decision, MethodHeader, MethodPath, Paywall, PaywallRequest } from "../paywall/types.ts";

/** The part of a paywall that adapters use. */
export type AdaptedPaywall = Pick<Paywall, "decide" | "close" | "removedHeaders"> &
  Partial<Pick<Paywall, "ready" | "answersPreflights" | "paths">>;

/** Options, from which the adapter creates its own paywall, or a shared paywall, which it does not close. */
export type PaywallSource = PaywallOptions | AdaptedPaywall;

/** Maximum wait for the first attempt to reach the chain and the service, ms. */
const MAX_START_MS = 5_000;

/** Replaces a header of a request by these lines; none removes it. */
export type ReplaceHeader = (name: string, values: readonly string[]) => void;

/** A paywall for adapters, which are created synchronously, before their paywall is open. */
export class OpeningPaywall {
  readonly #paywall: Promise<AdaptedPaywall>;
  readonly #attempted: Promise<void>;
  readonly #own: boolean;

  constructor(source: PaywallSource) {
    this.#own = !("decide" in source);
    const started = "decide" in source ? undefined : startPaywall(source);
    this.#paywall = started ?? assertAdapted(source as AdaptedPaywall);
    this.#attempted = started?.then(({ attempted }) => attempted) ?? this.#paywall.then(() => undefined);
    // Requests and `ready` handle the failure themselves.
    this.#paywall.catch(() => undefined);
    this.#attempted.catch(() => undefined);
  }

  /**
   * Resolves once the paywall can check payments. If nothing handles its rejection, the process ends with that error;
   * otherwise it would keep running with a paywall that can never accept a payment.
   */
  ready(): Promise<void> {
    return this.#paywall.then(({ ready }) => ready);
  }

  /** Resolves after the first attempt to reach chain and service, or after 5 s. Rejects on a permanent error. */
  async started(): Promise<void> {
    const timer = new AbortController();
    const time = sleep(MAX_START_MS, undefined, { signal: timer.signal }).catch(() => undefined);
    try {
      await Promise.race([this.#attempted, time]);
    } catch (error) {
      // The error is thrown below; without a handler, `ready` would reject with it a second time.
      this.ready().catch(() => undefined);
      throw error;
    } finally {
      timer.abort();
    }
  }

  async answersPreflights(): Promise<boolean> {
    return (await this.#paywall).answersPreflights === true;
  }

  /** Paths of methods; none if the paywall cannot open. */
  async paths(): Promise<readonly MethodPath[]> {
    return this.#paywall.then(
      ({ paths = [] }) => paths,
      () => [],
    );
  }

  /**
   * Never throws: any failure becomes a 503, and the client learns nothing about its cause.
   * @param replace replaces a header of the request; the name is in lower case
   */
  async decide(request: PaywallRequest, replace: ReplaceHeader): Promise<Decision> {
    try {
      const paywall = await this.#paywall;
      const removed = paywall.removedHeaders;
      return await paywall.decide(removed.length === 0 ? request : withoutHeaders(request, removed, replace));
    } catch {
      const body = { error: "Service Unavailable", message: "payments cannot be checked at the moment" };
      return { kind: "refused", status: 503, headers: { "cache-control": "no-store", "retry-after": "5" }, body };
    }
  }

  async close(): Promise<void> {
    if (!this.#own) return;
    const paywall = await this.#paywall.catch(() => undefined);
    await paywall?.close();
  }
}

/**
 * A wrapper that hides the removed headers of its paywall would let handlers see what pays for other requests.
 * @throws PaywallError INVALID_OPTION
 */
async function assertAdapted(paywall: AdaptedPaywall): Promise<AdaptedPaywall> {
  if (!Array.isArray(paywall.removedHeaders))
    throw invalidOption(
      "the paywall has no list removedHeaders; a wrapper must have that of the paywall that it wraps",
    );
  return paywall;
}

/**
 * Removes headers from a request, paid or not, because handlers and loggers must not see what pays for other requests. Of a
 * header that has schemes, it removes only those of methods.
 * @returns the request as the paywall sees it, with these headers
 */
function withoutHeaders(
  request: PaywallRequest,
  headers: readonly MethodHeader[],
  replace: ReplaceHeader,
): PaywallRequest {
  const removed = new Map<string, readonly string[]>();
  const schemes = new Map<string, string[]>();
  for (const { name, scheme } of headers) {
    const key = name.toLowerCase();
    if (scheme !== undefined) schemes.set(key, [...(schemes.get(key) ?? []), scheme]);
    else {
      removed.set(key, request.header(key));
      // Even without values: in Node, a middleware may have set it in `headers`, and not in `rawHeaders`.
      replace(key, []);
    }
  }
  for (const [key, names] of schemes) {
    const values = request.header(key);
    const kept = values.map((value) => withoutSchemes(value, names));
    if (kept.every((value, i) => value === values[i])) continue;
    removed.set(key, values);
    replace(
      key,
      kept.filter((value) => value !== ""),
    );
  }
  return { ...request, header: (name) => removed.get(name) ?? request.header(name) };
}

/** Removes schemes from a line of a header. The others stay as they were sent. */
function withoutSchemes(value: string, names: readonly string[]): string {
  const found = authSchemes([value]);
  const kept = found.filter((scheme) => !names.some((name) => isAuthScheme(scheme, name)));
  return kept.length === found.length ? value : kept.map(({ text }) => text).join(", ");
}
