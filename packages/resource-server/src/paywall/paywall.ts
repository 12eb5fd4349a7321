// Implements the table of interface 4.6, row by row.

import type { PaymentStatement, PaymentUses } from "@sotto/protocol";
import {
  assertBindingTime,
  buildInstructions,
  MAX_PROOF_HEADER_LENGTH,
  maxProofHeaderLength,
  type ProofHeader,
  parseProofHeader,
  SottoError,
} from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { PaywallRequest } from "../routes/options.ts";
import { type Prices, parsePrice, pricedRequest } from "../routes/prices.ts";
import { parseTarget, type Target } from "../routes/target.ts";
import type { Config } from "./config.ts";
import { isPreflight, preflightHeaders, responseHeaders } from "./cors.ts";
import { codeOf, type Opening } from "./opening.ts";
import type { Challenge, PaywallEvent, PaywallOptions } from "./options.ts";
import { isNavigation, PAGE_HEADERS, renderPage } from "./page.ts";
import type { PoolToken } from "./pool-token.ts";
import * as responses from "./responses.ts";
import type { Decision, Paywall } from "./types.ts";

export interface PaywallParts {
  readonly config: Config;
  readonly opening: Opening;
  readonly prices: Prices;
  readonly onChallenge: PaywallOptions["onChallenge"];
  readonly report: (event: PaywallEvent) => void;
  readonly clock: () => number;
  readonly uses: PaymentUses;
  readonly end: () => Promise<void>;
}

export class CorePaywall implements Paywall {
  readonly #parts: PaywallParts;
  #ending: Promise<void> | undefined;

  constructor(parts: PaywallParts) {
    this.#parts = parts;
  }

  get uses(): PaymentUses {
    return this.#parts.uses;
  }

  get ready(): Promise<void> {
    return this.#parts.opening.ready;
  }

  /** Settles with the first attempt to reach chain and service. Rejects on a permanent error. */
  get attempted(): Promise<void> {
    return this.#parts.opening.attempted;
  }

  get answersPreflights(): boolean {
    return this.#parts.config.cors !== undefined;
  }

  async checkProofs(payment: PaymentStatement): Promise<"valid" | "invalid" | "unavailable"> {
    const { opening, report } = this.#parts;
    try {
      const checks = this.#ending === undefined ? await opening.checks() : undefined;
      if (checks === undefined) throw new CheckUnavailable(opening.failure);
      await checks.checkProofs(payment);
      return "valid";
    } catch (error) {
      if (error instanceof CheckFailed) {
        report({ event: "refused", reason: error.failure });
        return "invalid";
      }
      report({ event: "unavailable", reason: codeOf(error), error });
      return "unavailable";
    }
  }

  async decide(request: PaywallRequest): Promise<Decision> {
    const { cors, page } = this.#parts.config;
    if (cors !== undefined && isPreflight(request)) {
      this.#parts.report({ event: "preflight" });
      return { kind: "preflight", headers: preflightHeaders(cors, request) };
    }
    let decision = await this.#decideOrRefuse(request);
    // Set on every 402, JSON included: a cache must not serve the page to programs, or JSON to browsers.
    if (page !== undefined && decision.kind === "refused" && decision.status === 402)
      decision = withHeaders(decision, { vary: "Sec-Fetch-Dest" });
    return cors === undefined ? decision : withHeaders(decision, responseHeaders(cors, request));
  }

  async #decideOrRefuse(request: PaywallRequest): Promise<Decision> {
    try {
      if (this.#ending !== undefined) return responses.unavailable();
      return await this.#decide(request);
    } catch (error) {
      this.#parts.report({ event: "trouble", reason: codeOf(error), error });
      return responses.unavailable();
    }
  }

  async #decide(request: PaywallRequest): Promise<Decision> {
    const { config, prices, report, opening } = this.#parts;
    const target = parseTarget(config.origin, request.target);
    if (target === undefined) {
      report({ event: "malformed" });
      return responses.badTarget();
    }
    const quoted = prices.isFree(request.method, target) ? "free" : await prices.of(request, target);
    if (quoted === "free") {
      report({ event: "free" });
      return { kind: "free" };
    }
    const token = await opening.token();
    if (token === undefined) {
      report({ event: "unavailable", reason: opening.failure });
      return responses.opening();
    }
    const price = parsePrice(quoted, token.decimals);
    const resource = config.origin + target.target;
    const values = request.header(responses.PROOF_HEADER);
    if (values.length === 0) return this.#challenge(request, { target, price, resource, token });
    const header = parseHeader(values);
    if (typeof header === "object") return this.#verify(header, price, resource);
    report({ event: "malformed" });
    return responses.malformed(header);
  }

  async #challenge(request: PaywallRequest, { target, price, resource, token }: ChallengedRequest): Promise<Decision> {
    const { config, report, clock } = this.#parts;
    const { binding, signature, service: serviceUrl } = config;
    const now = clock();
    // Clients would refuse an expired signature.
    assertBindingTime(binding, now);
    const needed = maxProofHeaderLength(resource);
    if (needed > MAX_PROOF_HEADER_LENGTH) {
      report({ event: "malformed" });
      return responses.targetTooLong(needed);
    }
    const { token: asset, decimals } = token;
    const instructions = buildInstructions({ binding, signature, price, asset, decimals, serviceUrl, resource, now });
    const body = { ...instructions, ...config.listings.of(request.method, target, resource) };
    report({ event: "challenged" });
    const challenge: Challenge = { request: pricedRequest(request, target), price, resource, body };
    const answer = await this.#addFormats(responses.challenge(body), challenge);
    if (config.page === undefined || !isNavigation(request)) return answer;
    return responses.withPage(answer, PAGE_HEADERS, renderPage(config.page, body, serviceUrl));
  }

  /** Adds the challenges of other payment formats. */
  async #addFormats(answer: responses.Refused, challenge: Challenge): Promise<responses.Refused> {
    const { onChallenge, report } = this.#parts;
    if (onChallenge === undefined) return answer;
    try {
      return responses.withHeaders(answer, await onChallenge(challenge));
    } catch (error) {
      // Clients of sotto's own format can still pay.
      report({ event: "trouble", reason: "CHALLENGE_HOOK", error });
      return answer;
    }
  }

  async #verify(header: ParsedHeader, price: bigint, resource: string): Promise<Decision> {
    const { opening, report, clock } = this.#parts;
    const checks = await opening.checks();
    const began = clock();
    try {
      if (header.value === undefined) throw new CheckFailed("HEADER");
      if (checks === undefined) throw new CheckUnavailable(opening.failure);
      const { payment, claim } = await checks.pass(header.value, price, resource);
      report({ event: "paid", ms: clock() - began });
      const finish = async (outcome: number | "aborted"): Promise<void> => {
        await claim.finish(outcome);
        report({ event: "finished", status: outcome === "aborted" ? 0 : outcome });
      };
      return { kind: "paid", payment, headers: { ...responses.HEADERS }, finish };
    } catch (error) {
      if (error instanceof CheckFailed) {
        report({ event: "refused", reason: error.failure });
        return responses.invalid(error.retryAfter);
      }
      // "Any exception during verification counts as a failed check"; Retry-After asks the client to retry.
      report({ event: "unavailable", reason: codeOf(error), error });
      return responses.invalid(error instanceof CheckUnavailable ? error.retryAfter : 5);
    }
  }

  close(): Promise<void> {
    this.#parts.opening.close();
    this.#ending ??= this.#parts.end();
    return this.#ending;
  }
}

function withHeaders(decision: Decision, headers: Readonly<Record<string, string>>): Decision {
  return { ...decision, headers: responses.mergeHeaders(decision.headers ?? {}, headers) };
}

/** The subject of a challenge. */
interface ChallengedRequest {
  readonly target: Target;
  /** Base units. */
  readonly price: bigint;
  readonly resource: string;
  readonly token: PoolToken;
}

/** A header that is JSON; `value` is undefined if it is not a proof header. */
interface ParsedHeader {
  readonly value?: ProofHeader;
}

/** @returns the header, or the reason why it is not JSON */
function parseHeader(values: readonly string[]): ParsedHeader | string {
  const [value = ""] = values;
  if (values.length > 1) return `the header was sent ${values.length} times`;
  try {
    return { value: parseProofHeader(value) };
  } catch (error) {
    // JSON of another shape (a missing field, null, 42, []) is a failed check, not a 400.
    return error instanceof SottoError && error.code === "PROOF_HEADER_NOT_JSON" ? error.message : {};
  }
}
