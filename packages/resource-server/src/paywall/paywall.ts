// The table of interface 4.6, row by row.

import type { PaymentUses } from "@sotto/protocol";
import {
  buildInstructions,
  checkBindingTime,
  MAX_PROOF_HEADER_LENGTH,
  maxProofHeaderLength,
  type ProofHeader,
  parseProofHeader,
  SottoError,
} from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import { type Prices, pricedRequest, readPrice } from "../routes/prices.ts";
import type { PaywallRequest } from "../routes/request.ts";
import { readTarget, type Target } from "../routes/target.ts";
import * as answers from "./answers.ts";
import type { Config } from "./config.ts";
import { codeOf, type Opening } from "./opening.ts";
import type { Challenge, PaywallEvent, PaywallOptions } from "./options.ts";
import type { PoolToken } from "./pool-token.ts";
import type { Decision, Paywall } from "./types.ts";

export const PROOF_HEADER = "x-payment-proof";

export interface PaywallParts {
  readonly config: Config;
  readonly opening: Opening;
  readonly prices: Prices;
  readonly hooks: Pick<PaywallOptions, "onChallenge">;
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

  /** Ends with the first attempt to reach chain and service. Rejects if it failed for good. */
  get attempted(): Promise<void> {
    return this.#parts.opening.attempted;
  }

  async decide(request: PaywallRequest): Promise<Decision> {
    try {
      if (this.#ending !== undefined) return answers.unavailable();
      return await this.#decide(request);
    } catch (error) {
      this.#parts.report({ event: "trouble", reason: codeOf(error), error });
      return answers.unavailable();
    }
  }

  async #decide(request: PaywallRequest): Promise<Decision> {
    const { config, prices, report, opening } = this.#parts;
    const target = readTarget(config.origin, request.target);
    if (target === undefined) {
      report({ event: "malformed" });
      return answers.badTarget();
    }
    const asked = prices.isFree(request.method, target) ? "free" : await prices.of(request, target);
    if (asked === "free") {
      report({ event: "free" });
      return { kind: "free" };
    }
    const token = await opening.token();
    if (token === undefined) {
      report({ event: "unavailable", reason: opening.failure });
      return answers.opening();
    }
    const price = readPrice(asked, token.decimals);
    const resource = config.origin + target.target;
    const values = request.header(PROOF_HEADER);
    if (values.length === 0) return this.#challenge(request, { target, price, resource, token });
    const header = readHeader(values);
    if (typeof header === "object") return this.#verify(header, price, resource);
    report({ event: "malformed" });
    return answers.malformed(header);
  }

  async #challenge(request: PaywallRequest, { target, price, resource, token }: Asked): Promise<Decision> {
    const { config, hooks, report, clock } = this.#parts;
    const { binding, signature, service: serviceUrl } = config;
    const now = clock();
    // Clients would refuse it, and rightly.
    checkBindingTime(binding, now);
    const needed = maxProofHeaderLength(resource);
    if (needed > MAX_PROOF_HEADER_LENGTH) {
      report({ event: "malformed" });
      return answers.targetTooLong(needed);
    }
    const { token: asset, decimals } = token;
    const body = buildInstructions({ binding, signature, price, asset, decimals, serviceUrl, resource, now });
    const answer = answers.challenge(body);
    report({ event: "challenged" });
    if (hooks.onChallenge === undefined) return answer;
    try {
      const challenge: Challenge = { request: pricedRequest(request, target), price, resource, body };
      return answers.withHeaders(answer, await hooks.onChallenge(challenge));
    } catch (error) {
      // Whoever speaks sotto can still pay.
      report({ event: "trouble", reason: "CHALLENGE_HOOK", error });
      return answer;
    }
  }

  async #verify(header: ReadHeader, price: bigint, resource: string): Promise<Decision> {
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
      return { kind: "paid", payment, headers: { ...answers.HEADERS }, finish };
    } catch (error) {
      if (error instanceof CheckFailed) {
        report({ event: "refused", reason: error.failure });
        return answers.invalid(error.retryAfter);
      }
      // "Any exception during verification counts as a failed check"; its payer is told to try again.
      report({ event: "unavailable", reason: codeOf(error), error });
      return answers.invalid(error instanceof CheckUnavailable ? error.retryAfter : 5);
    }
  }

  close(): Promise<void> {
    this.#parts.opening.close();
    this.#ending ??= this.#parts.end();
    return this.#ending;
  }
}

/** What a 402 is about. */
interface Asked {
  readonly target: Target;
  /** Base units. */
  readonly price: bigint;
  readonly resource: string;
  readonly token: PoolToken;
}

/** JSON; `value` is left out where it is not a proof header's. */
interface ReadHeader {
  readonly value?: ProofHeader;
}

/** The header, or why it is no JSON. */
function readHeader(values: readonly string[]): ReadHeader | string {
  const [value = ""] = values;
  if (values.length > 1) return `the header was sent ${values.length} times`;
  try {
    return { value: parseProofHeader(value) };
  } catch (error) {
    // Whatever cannot be read out of JSON is a failed check: a missing field, null, 42, [].
    return error instanceof SottoError && error.code === "PROOF_HEADER_NOT_JSON" ? error.message : {};
  }
}
