import { type App, BODY_CODES, errorResponses, ROUTE_CODES, type ServiceExtension, traced } from "@sotto/server";
import type { FastifyRequest } from "fastify";
import { type Static, type TSchema, Type } from "typebox";
import { routeErrors } from "../config/extensions.ts";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import { ServiceError } from "../errors.ts";
import type { RelayServices } from "../operations/enqueue.ts";
import type { Caller } from "../operations/hold.ts";
import { callerOf, stepsOf } from "../operations/prefer.ts";
import { PreferHeader, RelayResponse } from "../operations/schemas.ts";
import type { ServiceMetrics } from "../ops/metrics.ts";
import {
  type ResponseContext,
  relayResponse,
  sendOutcome,
  settleResponse,
  verifyResponse,
} from "../payments/responses.ts";
import { SettleBody, SettleResponse, VerifyResponse, verifyBody } from "../payments/schemas.ts";
import { settlePayment } from "../payments/settle.ts";
import { type VerifyServices, verifyPayment } from "../payments/verify.ts";
import type { Operation } from "../store/index.ts";
import { relayDeposit } from "../transfers/deposit.ts";
import { DepositBody, WithdrawBody } from "../transfers/schemas.ts";
import { relayWithdrawal } from "../transfers/withdrawal.ts";
import { alsoX402 } from "../x402/openapi.ts";
import { supportedRoute, type X402Routes, x402Handlers } from "../x402/routes.ts";
import { X402SettleResponse, X402VerifyResponse } from "../x402/schemas.ts";

export interface PaymentRoutes extends VerifyServices, RelayServices, X402Routes {
  readonly store: VerifyServices["store"] & RelayServices["store"];
  readonly facts: RelayServices["facts"];
  readonly metrics: Pick<ServiceMetrics, "verified" | "settled">;
  readonly answers: ResponseContext;
  /** The id under which quotas count the client. It does not reveal the client's address. */
  readonly clientOf: (request: FastifyRequest) => string;
}

const Id = Type.Object({ id: Type.String({ maxLength: 64, description: "id of the payment, deposit or withdrawal" }) });

/** Codes of the chain, the store, the quotas and the relayer. */
const SETTLING_CODES = [
  "CHAIN_UNAVAILABLE",
  "STORE_UNAVAILABLE",
  "SERVICE_CLOCK_WRONG",
  "HEAD_TOO_OLD",
  "FEES_TOO_HIGH",
  "SIGNER_UNAVAILABLE",
  "SIGNER_REFUSED",
  "SIGNER_MISMATCH",
  "RELAYER_BALANCE_LOW",
  "GAS_BUDGET_EXHAUSTED",
  "RELAYER_STUCK",
  "QUOTA_EXCEEDED",
] as const;

/** Codes of a proof that cannot be decoded or checked. */
const PROOF_CODES = [
  "PROOF_MALFORMED",
  "PROOF_COORDINATE_RANGE",
  "PROOF_AT_INFINITY",
  "PROOF_NOT_ON_CURVE",
  "PROOF_NOT_IN_SUBGROUP",
  "SIGNALS_MALFORMED",
  "SIGNAL_RANGE",
  "ENGINE_OVERLOADED",
  "ENGINE_FAILED",
  "ENGINE_CLOSED",
] as const;

/** Codes of other values that cannot be decoded. */
const VALUE_CODES = [
  "INVALID_INTEGER",
  "INVALID_FIELD_ELEMENT",
  "INVALID_AMOUNT",
  "INVALID_HEX",
  "INVALID_ADDRESS",
  "INVALID_STRING",
  "INVALID_POINT",
  "INVALID_SIGNATURE",
] as const;

const X402_CODES = [
  "X402_VERSION_UNSUPPORTED",
  "X402_SCHEME_UNSUPPORTED",
  "X402_NETWORK_UNSUPPORTED",
  "X402_REQUIREMENTS_INVALID",
  "X402_PAYLOAD_INVALID",
] as const;

const SHARED_CODES = [...BODY_CODES, ...VALUE_CODES, ...PROOF_CODES, ...SETTLING_CODES] as const;

const refused = (...codes: readonly (keyof typeof ROUTE_ERRORS)[]) =>
  errorResponses(ROUTE_ERRORS, ...SHARED_CODES, ...codes);

/** The errors of /verify, with those of extensions that decide on payments. */
const verifyErrors = (extensions: readonly ServiceExtension[]) =>
  errorResponses(
    routeErrors(extensions),
    ...SHARED_CODES,
    "INVALID_BUNDLE",
    ...X402_CODES,
    ...extensions.flatMap(({ admits }) => admits?.codes ?? []),
  );
const SETTLE_ERRORS = refused(
  "INVALID_TOKEN",
  "PAYMENT_MISMATCH",
  "TOKEN_REPLACED",
  "TOKEN_EXPIRED",
  "SETTLEMENT_UNKNOWN",
  "INVALID_BUNDLE",
  ...X402_CODES,
);
const RELAY_ERRORS = refused(
  "NULLIFIER_QUEUED",
  "NULLIFIER_SPENT",
  "WRONG_DEPLOYMENT",
  "INVALID_PROOF",
  "CONTEXT_MISMATCH",
  "UNKNOWN_ROOT",
  "EXPIRED",
  "VALIDITY_TOO_LONG",
  "AMOUNT_TOO_SMALL",
  "FEE_TOO_SMALL",
  "AUTHORIZATION_MISMATCH",
  "INSUFFICIENT_TOKENS",
  "NOT_APPROVED",
);

/** @param extensions those that decide on payments add their fields and errors */
export function paymentRoutes(app: App, services: PaymentRoutes, extensions: readonly ServiceExtension[]): void {
  const { metrics, answers, clientOf, tracing } = services;
  const payments = ["payments"];
  const x402 = x402Handlers(services);
  supportedRoute(app, services);
  app.post(
    "/verify",
    {
      preValidation: x402.verify,
      config: alsoX402(X402VerifyResponse, 200),
      schema: {
        tags: payments,
        summary: "Verify a payment proof bundle and reserve its note",
        body: verifyBody(extensions.flatMap(({ admits }) => admits?.field ?? [])),
        response: { 200: VerifyResponse, ...verifyErrors(extensions) },
      },
    },
    async (request, reply) => {
      const step = stepsOf(request, tracing)("verify");
      const result = await traced(
        step,
        () => verifyPayment(request.body, clientOf(request), services, step),
        (found) => ({ "sotto.result": found.valid ? "valid" : found.reason }),
      );
      metrics.verified(result.valid ? "valid" : result.reason);
      reply.header("cache-control", "no-store");
      return verifyResponse(result);
    },
  );
  app.post(
    "/settle",
    {
      preValidation: x402.settle,
      config: alsoX402(X402SettleResponse, 200, 202),
      schema: {
        tags: payments,
        summary: "Settle a verified payment on chain; the relayer pays the gas",
        headers: PreferHeader,
        body: SettleBody,
        response: { 200: SettleResponse, 202: SettleResponse, ...SETTLE_ERRORS },
      },
    },
    async (request, reply) => {
      const answer = settleResponse(
        await settlePayment(request.body, callerOf(request, reply, clientOf(request), tracing), services),
        answers,
      );
      metrics.settled(answer.status);
      return sendOutcome(request, reply, answer);
    },
  );
  app.get(
    "/settle/:id",
    {
      schema: {
        tags: payments,
        summary: "The state of a payment, deposit or withdrawal",
        params: Id,
        response: {
          200: SettleResponse,
          202: SettleResponse,
          ...errorResponses(ROUTE_ERRORS, "UNKNOWN_PAYMENT", "STORE_UNAVAILABLE", ...ROUTE_CODES),
        },
      },
    },
    async (request, reply) => {
      const operation = await services.store.operations.get(request.params.id);
      if (operation === undefined)
        throw new ServiceError("UNKNOWN_PAYMENT", "no payment, deposit or withdrawal was queued under this id");
      return sendOutcome(request, reply, settleResponse(operation, answers));
    },
  );
  relayRoutes(app, services);
}

/** Transfers that the relayer submits for their owner: deposits and withdrawals. */
function relayRoutes(app: App, services: PaymentRoutes): void {
  const relay = <Body extends TSchema>(
    path: string,
    summary: string,
    body: Body,
    run: (body: Static<Body>, caller: Caller, services: PaymentRoutes) => Promise<Operation>,
  ) =>
    app.post(
      path,
      {
        schema: {
          tags: ["relay"],
          summary,
          headers: PreferHeader,
          body,
          response: { 200: RelayResponse, 202: RelayResponse, ...RELAY_ERRORS },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request, reply, services.clientOf(request), services.tracing);
        const answer = relayResponse(await run(request.body as Static<Body>, caller, services), services.answers);
        services.metrics.settled(answer.status);
        return sendOutcome(request, reply, answer);
      },
    );
  relay("/deposit", "Relay a deposit that its depositor authorized", DepositBody, relayDeposit);
  relay("/withdraw", "Relay a withdrawal or a merge of notes", WithdrawBody, relayWithdrawal);
}
