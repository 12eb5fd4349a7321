import type { SwaggerTransform } from "@fastify/swagger";
import { type TSchema, Type } from "typebox";
import { X402Body } from "./schemas.ts";

/**
 * Creates route options that document both request formats of a path. The route's schema checks only the service's own format, because a schema
 * cannot decide which format a body has.
 * @param answer the x402 response; @param statuses the statuses that have it
 */
export function alsoX402(answer: TSchema, ...statuses: readonly number[]): { swaggerTransform: SwaggerTransform } {
  return {
    swaggerTransform({ schema, url }) {
      const both = Object.entries(schema.response as Record<string, TSchema>).map(([status, own]) => [
        status,
        statuses.includes(Number(status)) ? Type.Union([own, answer]) : own,
      ]);
      const body = Type.Union([schema.body as TSchema, X402Body]);
      return { schema: { ...schema, body, response: Object.fromEntries(both) }, url };
    },
  };
}
