import { DATABASE_ERRORS } from "@sotto/database";
import { PHONE_ERRORS } from "@sotto/phone-registry";
import { type ErrorTable, PROTOCOL_ERRORS, parseAddress, SHARED_ERRORS } from "@sotto/protocol";
import { type App, BODY_CODES, errorResponses, ROUTE_CODES, SERVER_ERRORS } from "@sotto/server";
import type { FastifyRequest } from "fastify";
import { MAX_SIGNED_SCHEDULE_BYTES } from "../core/signed-schedule.ts";
import { MIRROR_ERRORS } from "../error-definitions.ts";
import type { PrepaidMirror } from "./mirror.ts";
import { PushBody, PushResponse, SchedulesQuery, SchedulesResponse } from "./schemas.ts";

export interface PrepaidRoutes {
  readonly mirror: Pick<PrepaidMirror, "push" | "list">;
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
            ...BODY_CODES,
            "PREPAID_SCHEDULE_INVALID",
            "PREPAID_SIGNATURE_INVALID",
            "PREPAID_SCHEDULE_CONFLICT",
            "PREPAID_SCHEDULES_FULL",
            "WRONG_DEPLOYMENT",
            "QUOTA_EXCEEDED",
            "CONTRACT_CHECKS_LIMITED",
            "CHAIN_UNAVAILABLE",
            "STORE_UNAVAILABLE",
          ),
        },
      },
    },
    async (request, reply) => {
      const result = await mirror.push(request.body, clientOf(request));
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
        querystring: SchedulesQuery,
        response: {
          200: SchedulesResponse,
          ...errorResponses(
            ERRORS,
            "INVALID_REQUEST",
            "INVALID_ADDRESS",
            "INVALID_STRING",
            "STORE_UNAVAILABLE",
            ...ROUTE_CODES,
          ),
        },
      },
    },
    async ({ query }, reply) => {
      const schedules = await mirror.list(parseAddress(query.wallet, "wallet"), query.origin);
      // A push is visible at once.
      reply.header("cache-control", "no-cache").type("application/json; charset=utf-8");
      return reply.send(`{"schedules":${schedules}}` as never);
    },
  );
}
