// The private payment, as the first method of every paywall: rows 1 to 4 of the table of interface 4.6.
import {
  assertBindingTime,
  type Bytes32,
  buildInstructions,
  MAX_PROOF_HEADER_LENGTH,
  maxProofHeaderLength,
  type PaymentStatement,
  type ProofHeader,
  parseProofHeader,
  SottoError,
} from "@sotto/protocol";
import { CheckFailed, CheckUnavailable } from "../outcome.ts";
import type { PaywallRequest } from "../routes/options.ts";
import type { Attachments } from "./attachments.ts";
import type { Checks } from "./checks.ts";
import type { Config } from "./config.ts";
import type { PaywallEvent } from "./events.ts";
import type { Offer, OfferTerms, OpenMethod, PaidTerms, Passed, PaywallCore, RequestTerms } from "./method.ts";
import type { Opening } from "./opening.ts";
import { reportRefusal } from "./refusal.ts";
import * as responses from "./responses.ts";
import type { ServerClock } from "./server-clock.ts";
import type { Decision } from "./types.ts";

export interface PrivateParts {
  readonly config: Config;
  readonly opening: () => Opening;
  readonly attachments: () => Attachments;
  readonly report: (event: PaywallEvent) => void;
  readonly clock: () => number;
  readonly serverClock: Pick<ServerClock, "problem">;
  readonly paid: PaywallCore["paid"];
}

export class PrivatePayments implements OpenMethod {
  readonly #parts: PrivateParts;

  constructor(parts: PrivateParts) {
    this.#parts = parts;
  }

  async decide(request: PaywallRequest, { price, resource }: RequestTerms): Promise<Decision | undefined> {
    const values = request.header(responses.PROOF_HEADER);
    if (values.length === 0) return undefined;
    return this.verify(values, { price, resource, request }, async ({ payment, finish }) =>
      this.#parts.paid(payment, finish),
    );
  }

  /** Row 1. @throws Refusal if nobody can pay for the request now */
  async offer({ method, target, resource, price, token }: OfferTerms): Promise<Offer> {
    const { config, report, clock, serverClock } = this.#parts;
    const { recipients, service: serviceUrl } = config;
    const problem = await serverClock.problem();
    if (problem !== undefined) {
      report({ event: "unavailable", reason: problem.code, error: problem });
      throw new responses.Refusal(responses.clockWrong());
    }
    const now = clock();
    const { binding, signature, schedule } = recipients.addressAt(now);
    // Clients would refuse an expired signature.
    assertBindingTime(binding, now);
    const needed = maxProofHeaderLength(resource);
    if (needed > MAX_PROOF_HEADER_LENGTH) {
      report({ event: "malformed" });
      throw new responses.Refusal(responses.targetTooLong(needed));
    }
    const { token: asset, decimals } = token;
    const instructions = buildInstructions({
      ...{ binding, signature, schedule, price, asset, decimals, serviceUrl, resource, now },
    });
    const body = { ...instructions, ...config.listings.of(method, target, resource) };
    return { body, authenticate: ["x402-zk"] };
  }

  /** Rows 2 to 4. @param accept decides on a payment that passed every check */
  async verify(
    values: readonly string[],
    terms: PaidTerms,
    accept: (passed: Passed) => Promise<Decision>,
  ): Promise<Decision> {
    const { report, clock } = this.#parts;
    const header = parseHeader(values);
    if (typeof header === "string") {
      report({ event: "malformed" });
      return responses.malformed(header);
    }
    const opening = this.#parts.opening();
    const checks = await opening.checks();
    const began = clock();
    let passed: Awaited<ReturnType<Checks["pass"]>>;
    try {
      if (header.value === undefined) throw new CheckFailed("HEADER");
      if (checks === undefined) throw new CheckUnavailable(opening.failure);
      passed = await checks.pass(header.value, terms);
    } catch (error) {
      if (error instanceof responses.Refusal) {
        report({ event: "malformed" });
        return error.answer;
      }
      return responses.invalid(reportRefusal(error, report));
    }
    report({ event: "paid", ms: clock() - began });
    const { claim } = passed;
    const payment = await this.#parts.attachments().ofRequest(passed.payment, terms.request);
    return accept({ payment, finish: claim.finish });
  }

  /** @throws CheckFailed, CheckUnavailable */
  async verifyAgain(
    header: ProofHeader,
    terms: PaidTerms,
    isAnswered: (digest: Bytes32) => Promise<boolean>,
  ): Promise<Bytes32> {
    const checks = await this.#checks();
    return checks.passAgain(header, terms, isAnswered);
  }

  /** @throws CheckUnavailable */
  async opened(): Promise<void> {
    await this.#checks();
  }

  async verifyProofs(payment: PaymentStatement): Promise<"valid" | "invalid" | "unavailable"> {
    const { report } = this.#parts;
    try {
      const checks = await this.#checks();
      await checks.assertProofs(payment);
      return "valid";
    } catch (error) {
      reportRefusal(error, report);
      return error instanceof CheckFailed ? "invalid" : "unavailable";
    }
  }

  /** See `AttachmentCore.verify`. @throws CheckUnavailable */
  async verifyAttached(circuit: string, proof: readonly string[], signals: readonly string[]): Promise<boolean> {
    return (await this.#checks()).verifyAttached(circuit, proof, signals);
  }

  /** @throws CheckUnavailable */
  async #checks(): Promise<Checks> {
    const opening = this.#parts.opening();
    const checks = await opening.checks();
    if (checks === undefined) throw new CheckUnavailable(opening.failure);
    return checks;
  }
}

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
