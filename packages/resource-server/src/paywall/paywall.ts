// Implements the table of interface 4.6, row by row.

import type { PaymentStatement, PaymentUses } from "@sotto/protocol";
import {
  assertBindingTime,
  buildInstructions,
  MAX_PROOF_HEADER_LENGTH,
  maxProofHeaderLength,
  type PaymentInstructions,
  type ProofHeader,
  parseProofHeader,
  SottoError,
} from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { Prepaid, PrepaidTotals } from "../prepaid/prepaid.ts";
import { readToken, type ShownToken } from "../prepaid/shown-token.ts";
import type { PaywallRequest } from "../routes/options.ts";
import { type Prices, pricedRequest } from "../routes/prices.ts";
import { parseTarget, type Target } from "../routes/target.ts";
import type { Checks, PaidTerms } from "./checks.ts";
import type { Config } from "./config.ts";
import { isPreflight, preflightHeaders, responseHeaders } from "./cors.ts";
import { codeOf, type Opening } from "./opening.ts";
import type { Challenge, PaywallEvent, PaywallOptions } from "./options.ts";
import { isNavigation, PAGE_HEADERS, renderPage } from "./page.ts";
import type { PoolToken } from "./pool-token.ts";
import { PrepaidEndpoints, prepaidPath, Refusal, type Sale } from "./prepaid.ts";
import * as responses from "./responses.ts";
import type { ServerClock } from "./server-clock.ts";
import type { Decision, Outcome, Payment, Paywall } from "./types.ts";

export interface PaywallParts {
  readonly config: Config;
  readonly opening: Opening;
  readonly prices: Prices;
  readonly onChallenge: PaywallOptions["onChallenge"];
  readonly report: (event: PaywallEvent) => void;
  readonly clock: () => number;
  readonly serverClock: Pick<ServerClock, "problem">;
  readonly uses: PaymentUses;
  /** Undefined without the option. */
  readonly prepaid: Prepaid | undefined;
  readonly end: () => Promise<void>;
}

export class CorePaywall implements Paywall {
  readonly #parts: PaywallParts;
  readonly #endpoints: PrepaidEndpoints | undefined;
  #ending: Promise<void> | undefined;

  constructor(parts: PaywallParts) {
    this.#parts = parts;
    const { prepaid } = parts;
    this.#endpoints = prepaid === undefined ? undefined : new PrepaidEndpoints({ ...parts, prepaid });
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

  get hasPrepaid(): boolean {
    return this.#parts.prepaid !== undefined;
  }

  async prepaidTotals(): Promise<readonly PrepaidTotals[]> {
    return (await this.#parts.prepaid?.totals()) ?? [];
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
    if (this.hasPrepaid && decision.headers?.["cache-control"] === "no-store")
      decision = withHeaders(decision, responses.PREPAID_VARY);
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
    // Before routes and prices: these paths are constants.
    if (this.#endpoints !== undefined && prepaidPath(target.target) !== undefined)
      return this.#decideAtPrepaidPath(request, target, this.#endpoints);
    const quoted = prices.isFree(request.method, target) ? "free" : await prices.of(request, target);
    if (quoted === "free") {
      report({ event: "free" });
      return { kind: "free" };
    }
    const token = await opening.token();
    if (token === undefined) return this.#notOpen();
    const price = prices.amount(quoted, token.decimals);
    const resource = config.origin + target.target;
    const values = request.header(responses.PROOF_HEADER);
    if (values.length === 0) return this.#redeemOrChallenge(request, { target, price, resource, token });
    return this.#verify(values, { price, resource }, async ({ payment, claim }) => this.#paid(payment, claim.finish));
  }

  #notOpen(): Decision {
    const { report, opening } = this.#parts;
    report({ event: "unavailable", reason: opening.failure });
    return responses.opening();
  }

  #paid(payment: Payment, finish: (outcome: Outcome) => Promise<void>): Decision {
    const { report } = this.#parts;
    return {
      kind: "paid",
      payment,
      headers: { ...responses.HEADERS },
      finish: async (outcome) => {
        await finish(outcome);
        report({ event: "finished", status: typeof outcome === "string" ? 0 : outcome });
      },
    };
  }

  /** A proof header wins over a prepaid token, so this runs only without one. */
  async #redeemOrChallenge(request: PaywallRequest, challenged: ChallengedRequest): Promise<Decision> {
    const { prepaid, report, clock, config } = this.#parts;
    const values = prepaid === undefined ? [] : request.header(responses.TOKEN_HEADER);
    if (prepaid === undefined || values.length === 0) return this.#challenge(request, challenged);
    const began = clock();
    const shown = parseToken(values);
    if (typeof shown === "string") {
      report({ event: "malformed" });
      return responses.malformedToken(shown);
    }
    const { price, resource } = challenged;
    try {
      const { method, target } = request;
      const { id, key, finish } = await prepaid.redemption.redeem(shown, { method, target, price });
      report({ event: "redeemed", key: key.id, value: price, ms: clock() - began });
      const { wallet } = config.binding;
      return this.#paid({ kind: "prepaid", id, amount: price, key: key.id, resource, wallet }, finish);
    } catch (error) {
      const retryAfter = this.#reportRefusal(error);
      const answer = await this.#challenge(request, challenged);
      return answer.status === 402 ? responses.refusedToken(answer, retryAfter) : answer;
    }
  }

  async #decideAtPrepaidPath(request: PaywallRequest, target: Target, endpoints: PrepaidEndpoints): Promise<Decision> {
    const { opening, config } = this.#parts;
    const path = prepaidPath(target.target);
    // Until then, the wallet's signature of the schedules is not checked.
    const token = await opening.token();
    if (token === undefined) return this.#notOpen();
    if (path === "keys") return endpoints.keys(request.method);
    if (path === "recover") return endpoints.recover(request);
    const sale = endpoints.sale(request);
    if ("kind" in sale) return sale;
    const { price } = sale;
    const resource = config.origin + target.target;
    const values = request.header(responses.PROOF_HEADER);
    if (values.length === 0) return this.#challenge(request, { target, price, resource, token, noTokens: true });
    return this.#sell(request, sale, values, resource);
  }

  /** Row 4 of a purchase: signs the batch, stores the signatures, and consumes the payment before it responds. */
  async #sell(request: PaywallRequest, sale: Sale, values: readonly string[], resource: string): Promise<Decision> {
    const { report, clock } = this.#parts;
    const endpoints = this.#endpoints!;
    const { key, purchase, price } = sale;
    const began = clock();
    let batch = new Uint8Array(0) as Uint8Array;
    const beforeProofs = async () => {
      batch = await endpoints.readBatch(request, sale);
    };
    return this.#verify(values, { price, resource, beforeProofs }, async ({ payment, claim }) => {
      let signatures: Uint8Array<ArrayBuffer>;
      try {
        signatures = await endpoints.issue(sale, payment.digest, batch);
      } catch (error) {
        await claim.finish(503);
        return endpoints.refusal(error);
      }
      await claim.finish(200);
      report({ event: "issued", key: key.id, value: key.value, count: purchase.count, ms: clock() - began });
      return responses.answered(signatures, "application/octet-stream");
    });
  }

  async #challenge(
    request: PaywallRequest,
    { target, price, resource, token, noTokens = false }: ChallengedRequest,
  ): Promise<responses.Refused> {
    const { config, report, clock, serverClock } = this.#parts;
    const { binding, signature, service: serviceUrl } = config;
    const problem = await serverClock.problem();
    if (problem !== undefined) {
      report({ event: "unavailable", reason: problem.code, error: problem });
      return responses.clockWrong();
    }
    const now = clock();
    // Clients would refuse an expired signature.
    assertBindingTime(binding, now);
    const needed = maxProofHeaderLength(resource);
    if (needed > MAX_PROOF_HEADER_LENGTH) {
      report({ event: "malformed" });
      return responses.targetTooLong(needed);
    }
    const { token: asset, decimals } = token;
    const built = buildInstructions({ binding, signature, price, asset, decimals, serviceUrl, resource, now });
    const instructions = noTokens ? built : this.#withOffer(built, price, now);
    const body = { ...instructions, ...config.listings.of(request.method, target, resource) };
    report({ event: "challenged" });
    const challenge: Challenge = { request: pricedRequest(request, target), price, resource, body };
    const answer = await this.#addFormats(responses.challenge(body), challenge);
    if (config.page === undefined || !isNavigation(request)) return answer;
    return responses.withPage(answer, PAGE_HEADERS, renderPage(config.page, body, serviceUrl));
  }

  /** Says which key signs tokens of this price now. Nothing in it can differ between payers. */
  #withOffer(instructions: PaymentInstructions, price: bigint, now: number): PaymentInstructions {
    const key = this.#parts.prepaid?.keyring.offered(price, now);
    if (key === undefined) return instructions;
    const payment = { ...instructions.payment, prepaid: { tokenKeyId: key.id, value: String(price) } };
    return { ...instructions, payment };
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

  /** Rows 2 to 4 of the table. @param accept decides on a payment that passed every check */
  async #verify(
    values: readonly string[],
    terms: PaidTerms,
    accept: (passed: Passed) => Promise<Decision>,
  ): Promise<Decision> {
    const { opening, report, clock } = this.#parts;
    const header = parseHeader(values);
    if (typeof header === "string") {
      report({ event: "malformed" });
      return responses.malformed(header);
    }
    const checks = await opening.checks();
    const began = clock();
    let passed: Passed;
    try {
      if (header.value === undefined) throw new CheckFailed("HEADER");
      if (checks === undefined) throw new CheckUnavailable(opening.failure);
      passed = await checks.pass(header.value, terms);
    } catch (error) {
      if (error instanceof Refusal) return this.#endpoints!.refusal(error);
      return responses.invalid(this.#reportRefusal(error));
    }
    report({ event: "paid", ms: clock() - began });
    return accept(passed);
  }

  /** @returns seconds after which the same header may pass; undefined if it never will */
  #reportRefusal(error: unknown): number | undefined {
    const { report } = this.#parts;
    if (error instanceof CheckFailed) {
      report({ event: "refused", reason: error.failure });
      return error.retryAfter;
    }
    // "Any exception during verification counts as a failed check"; Retry-After asks the client to retry.
    report({ event: "unavailable", reason: codeOf(error), error });
    return error instanceof CheckUnavailable ? error.retryAfter : 5;
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
  /** Whether prepaid tokens cannot pay for it: they are what is sold. */
  readonly noTokens?: boolean;
}

type Passed = Awaited<ReturnType<Checks["pass"]>>;

/** @returns the token, or the reason why it is none */
function parseToken(values: readonly string[]): ShownToken | string {
  const [header = ""] = values;
  if (values.length > 1) return `the header was sent ${values.length} times`;
  return readToken(header) ?? "a prepaid token must be 472 characters of base64url, and of type 2";
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
