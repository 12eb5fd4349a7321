// MPP as a method of a paywall: the private payment, asked for and shown in the headers of the authentication scheme Payment.
import {
  type Decision,
  invalidOption,
  isPaymentRequired,
  type Offer,
  type OfferTerms,
  type OpenMethod,
  type PaidProof,
  type PaymentMethod,
  type PaywallCore,
  type PaywallRequest,
  type PeekBody,
  type RequestTerms,
  refused,
} from "@sotto/resource-server";
import {
  CREDENTIAL_HEADER,
  encodeChallenge,
  encodeReceipt,
  MPP_METHOD,
  type MppCredential,
  MppError,
  type MppProblem,
  PAYMENT_SCHEME,
  PROBLEM_TYPE,
  parseCredential,
  paymentSchemes,
  problem,
  RECEIPT_HEADER,
} from "../index.ts";
import { Challenges, MAX_BODY_BYTES, type Wanted } from "./challenges.ts";
import { type MppOptions, parseMpp } from "./options.ts";

/** The request header in which clients of MPP say how they can pay. */
const ACCEPT_HEADER = "Accept-Payment";

/**
 * Charges clients of MPP, the Machine Payments Protocol, with private payments:
 *
 *     sotto({ ...options, methods: [mpp({ secret: process.env.MPP_SECRET ?? "" })] });
 *
 * Every 402 gets a challenge of the scheme Payment. A payment counts once, in either header.
 */
export const mpp = (options: MppOptions): PaymentMethod => ({
  name: "mpp",
  headers: [
    { name: headerOf(options), scheme: PAYMENT_SCHEME },
    { name: ACCEPT_HEADER, kept: true },
  ],
  open(core) {
    const challenges = new Challenges(parseMpp(options, core.origin), core);
    const { excess } = challenges;
    if (excess > 0)
      throw invalidOption(
        `with mpp, the recipient's signature, phone number and registry, the service's URL and the realm are ${excess} ` +
          "characters too long together, because a header of each 402 repeats them; a wallet contract that is deployed has " +
          "a shorter signature than one that is not",
      );
    return new OpenMpp(core, challenges, headerOf(options));
  },
});

/** `open` refuses other values. */
const headerOf = (options: MppOptions): string => (Object(options) as Partial<MppOptions>).header ?? CREDENTIAL_HEADER;

/**
 * Makes and checks challenges for a transport that is not HTTP, and has no headers. They always name the resource, because
 * there is no URL from which the client would know it.
 * @throws PaywallError INVALID_OPTION
 */
export const createChallenges = (options: MppOptions, core: PaywallCore): Challenges =>
  new Challenges({ ...parseMpp(options, core.origin), header: undefined }, core, Number.POSITIVE_INFINITY);

class OpenMpp implements OpenMethod {
  readonly #core: PaywallCore;
  readonly #challenges: Challenges;
  readonly #header: string;

  constructor(core: PaywallCore, challenges: Challenges, header: string) {
    this.#core = core;
    this.#header = header.toLowerCase();
    this.#challenges = challenges;
  }

  async offer(terms: OfferTerms, peek: PeekBody): Promise<Offer> {
    const challenge = this.#challenges.issue(wantedBy(terms, terms.method, await peek(MAX_BODY_BYTES)));
    return {
      authenticate: [encodeChallenge(challenge)],
      body: problem("payment-required", "Pay for this resource as the challenge says.", challenge.id),
      contentType: { type: PROBLEM_TYPE, header: ACCEPT_HEADER },
    };
  }

  async decide(request: PaywallRequest, terms: RequestTerms): Promise<Decision | undefined> {
    const shown = paymentSchemes(request.header(this.#header));
    if (shown.length === 0) return undefined;
    const { report } = this.#core;
    if (shown.length > 1) {
      report({ event: "malformed" });
      return badRequest("malformed-credential", "The request has several credentials of the scheme Payment.");
    }
    const credential = parse(shown[0]!.rest);
    if (typeof credential === "string") {
      report({ event: "malformed" });
      return this.#refuse(request, terms, "malformed-credential", credential);
    }
    const { challenge } = credential;
    if (challenge.method !== MPP_METHOD) {
      report({ event: "malformed" });
      return badRequest("method-unsupported", `This server accepts the method ${MPP_METHOD}.`);
    }
    const body = await request.peekBody?.(MAX_BODY_BYTES);
    const mismatch = this.#challenges.check(challenge, wantedBy(terms, request.method, body));
    if (mismatch !== undefined) {
      report({ event: "refused", reason: "CHALLENGE" });
      return this.#refuse(request, terms, mismatch.problem, mismatch.detail);
    }
    return this.#verify(request, terms, credential);
  }

  /** The checks of a private payment, which was shown in another header. */
  async #verify(request: PaywallRequest, terms: RequestTerms, credential: MppCredential): Promise<Decision> {
    const { price, resource } = terms;
    const proof = JSON.stringify(credential.payload);
    const decision = await this.#core.verify([proof], { price, resource, request }, async ({ payment, finish }) =>
      this.#accept(credential, payment, finish),
    );
    if (decision.kind !== "refused" || decision.status === 503) return decision;
    if (!isPaymentRequired(decision))
      return this.#refuse(request, terms, "malformed-credential", "The payload is not a payment proof.");
    const refusal = await this.#refuse(request, terms, "verification-failed", "The payment was not accepted.");
    const { "retry-after": wait } = decision.headers;
    return wait === undefined ? refusal : { ...refusal, headers: { ...refusal.headers, "retry-after": wait } };
  }

  #accept({ challenge }: MppCredential, payment: PaidProof, finish: Parameters<PaywallCore["paid"]>[1]): Decision {
    const { paid, clock } = this.#core;
    const decision = paid(payment, finish);
    if (decision.kind !== "paid") return decision;
    const receipt = encodeReceipt({
      challengeId: challenge.id,
      reference: payment.txSignature,
      timestamp: new Date(clock()).toISOString(),
    });
    const { "access-control-expose-headers": exposed } = decision.headers;
    const headers = { ...decision.headers, "access-control-expose-headers": `${exposed}, ${RECEIPT_HEADER}` };
    return { ...decision, headers, receipt: { [RECEIPT_HEADER.toLowerCase()]: receipt } };
  }

  /** The 402 of a credential that is refused: a new challenge, and what was wrong with the old one. */
  async #refuse(
    request: PaywallRequest,
    terms: RequestTerms,
    name: MppProblem,
    detail: string,
  ): Promise<Extract<Decision, { kind: "refused" }>> {
    const answer = await this.#core.challenge(request, terms);
    if (!isPaymentRequired(answer)) return answer;
    const { challengeId } = answer.body as { readonly challengeId?: string };
    return { ...answer, body: { ...answer.body, ...problem(name, detail, challengeId) } };
  }
}

/** @returns the credential, or what is wrong with it */
function parse(rest: readonly string[]): MppCredential | string {
  const [token = "", ...more] = rest;
  if (more.length > 0) return "The credential has parameters.";
  try {
    return parseCredential(token);
  } catch (error) {
    if (error instanceof MppError) return `${error.message[0]!.toUpperCase()}${error.message.slice(1)}.`;
    throw error;
  }
}

const wantedBy = (
  { resource, price, token }: Pick<RequestTerms, "resource" | "price" | "token">,
  method: string,
  body: Uint8Array | undefined,
): Wanted => ({ method, resource, price, asset: token.token, decimals: token.decimals, body });

/** A request that no payment of it can repair. */
const badRequest = (name: MppProblem, detail: string): Decision => ({
  ...refused(400, { status: 400, ...problem(name, detail) }),
  contentType: PROBLEM_TYPE,
});
