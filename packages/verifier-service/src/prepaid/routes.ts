import { MAX_SIGNED_SCHEDULE_BYTES } from "@sotto/prepaid";
import { parseAddress } from "@sotto/protocol";
import { type App, BODY_CODES, errorResponses, ROUTE_CODES } from "@sotto/server";
import type { FastifyRequest } from "fastify";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import type { PrepaidMirror } from "./mirror.ts";
import { PushBody, PushResponse, SchedulesQuery, SchedulesResponse } from "./schemas.ts";

export interface PrepaidRoutes {
  readonly mirror: Pick<PrepaidMirror, "push" | "list">;
  /** The id under which quotas count the client. */
  readonly clientOf: (request: FastifyRequest) => string;
}

const tags = ["prepaid"];

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
            ROUTE_ERRORS,
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
            ROUTE_ERRORS,
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
