import type { SwaggerTransform } from "@fastify/swagger";
import { type TSchema, Type } from "@fastify/type-provider-typebox";
import { X402Body } from "./schemas.ts";

/**
 * The route's options that describe both dialects of a path. Its schema alone checks the service's own: which dialect a
 * body is in is not for a schema to guess.
 * @param answer of the standard's dialect; @param statuses those that answer with it
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
