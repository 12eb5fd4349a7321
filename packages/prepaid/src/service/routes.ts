import { DATABASE_ERRORS } from "@sotto/database";
import { PHONE_ERRORS } from "@sotto/phone-registry";
import { type ErrorTable, PROTOCOL_ERRORS, parseAddress, SHARED_ERRORS } from "@sotto/protocol";
import { type App, BODY_CODES, errorResponses, ROUTE_CODES, SERVER_ERRORS } from "@sotto/server";
import type { FastifyRequest } from "fastify";
import { MAX_SIGNED_TERMS_BYTES } from "../core/metered/signed-terms.ts";
import { MAX_SIGNED_SCHEDULE_BYTES } from "../core/signed-schedule.ts";
import { MIRROR_ERRORS } from "../error-definitions.ts";
import type { PrepaidMirror } from "./mirror.ts";
import {
  OwnerQuery,
  PushBody,
  PushResponse,
  SchedulesResponse,
  TermsPushBody,
  TermsPushResponse,
  TermsResponse,
} from "./schemas.ts";

export interface PrepaidRoutes {
  readonly mirror: Pick<PrepaidMirror, "pushSchedule" | "pushTerms" | "listSchedules" | "listTerms">;
  /** The id under which quotas count the client. */
  readonly clientOf: (request: FastifyRequest) => string;
}

const tags = ["prepaid"];
const ERRORS = {
  ...SERVER_ERRORS,
  ...MIRROR_ERRORS,
  QUOTA_EXCEEDED: SHARED_ERRORS.QUOTA_EXCEEDED,
  CONTRACT_CHECKS_LIMITED: PHONE_ERRORS.CONTRACT_CHECKS_LIMITED,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  INVALID_ADDRESS: PROTOCOL_ERRORS.INVALID_ADDRESS,
  INVALID_STRING: PROTOCOL_ERRORS.INVALID_STRING,
} satisfies ErrorTable;

const PUSH_CODES = [
  ...BODY_CODES,
  "PREPAID_SIGNATURE_INVALID",
  "WRONG_DEPLOYMENT",
  "QUOTA_EXCEEDED",
  "CONTRACT_CHECKS_LIMITED",
  "CHAIN_UNAVAILABLE",
  "STORE_UNAVAILABLE",
] as const;
const LIST_CODES = [
  "INVALID_REQUEST",
  "INVALID_ADDRESS",
  "INVALID_STRING",
  "STORE_UNAVAILABLE",
  ...ROUTE_CODES,
] as const;

export const PREPAID_ROUTE_ERRORS: ErrorTable = ERRORS;

export function prepaidRoutes(app: App, { mirror, clientOf }: PrepaidRoutes): void {
  app.post(
    "/prepaid/schedules",
    {
      bodyLimit: MAX_SIGNED_SCHEDULE_BYTES,
      schema: {
        tags,
        summary: "Keep a signed schedule of prepaid keys",
        body: PushBody,
        response: {
          200: PushResponse,
          201: PushResponse,
          ...errorResponses(
            ERRORS,
            ...PUSH_CODES,
            "PREPAID_SCHEDULE_INVALID",
            "PREPAID_SCHEDULE_CONFLICT",
            "PREPAID_SCHEDULES_FULL",
          ),
        },
      },
    },
    async (request, reply) => {
      const result = await mirror.pushSchedule(request.body, clientOf(request));
      reply.header("cache-control", "no-store");
      return reply.code(result.accepted > 0 ? 201 : 200).send(result);
    },
  );
  app.get(
    "/prepaid/schedules",
    {
      schema: {
        tags,
        summary: "The signed schedules of a wallet for an origin",
        querystring: OwnerQuery,
        response: {
          200: SchedulesResponse,
          ...errorResponses(ERRORS, ...LIST_CODES),
        },
      },
    },
    async ({ query }, reply) => {
      const schedules = await mirror.listSchedules(parseAddress(query.wallet, "wallet"), query.origin);
      // A push is visible at once.
      reply.header("cache-control", "no-cache").type("application/json; charset=utf-8");
      return reply.send(`{"schedules":${schedules}}` as never);
    },
  );
  app.post(
    "/prepaid/terms",
    {
      bodyLimit: MAX_SIGNED_TERMS_BYTES,
      schema: {
        tags,
        summary: "Keep signed terms of metered routes",
        body: TermsPushBody,
        response: {
          200: TermsPushResponse,
          201: TermsPushResponse,
          ...errorResponses(
            ERRORS,
            ...PUSH_CODES,
            "PREPAID_TERMS_INVALID",
            "PREPAID_TERMS_CONTRADICTED",
            "PREPAID_TERMS_FULL",
          ),
        },
      },
    },
    async (request, reply) => {
      const result = await mirror.pushTerms(request.body, clientOf(request));
      reply.header("cache-control", "no-store");
      return reply.code(result.accepted ? 201 : 200).send(result);
    },
  );
  app.get(
    "/prepaid/terms",
    {
      schema: {
        tags,
        summary: "The signed terms of a wallet for an origin",
        querystring: OwnerQuery,
        response: { 200: TermsResponse, ...errorResponses(ERRORS, ...LIST_CODES) },
      },
    },
    async ({ query }, reply) => {
      const terms = await mirror.listTerms(parseAddress(query.wallet, "wallet"), query.origin);
      // A push is visible at once.
      reply.header("cache-control", "no-cache").type("application/json; charset=utf-8");
      return reply.send(`{"terms":${terms}}` as never);
    },
  );
}
