import { DATABASE_ERRORS } from "@sotto/database";
import type { ErrorTable } from "@sotto/protocol";
import { type App, errorResponses, ROUTE_CODES, SERVER_ERRORS } from "@sotto/server";
import { Type } from "typebox";
import { HEADS_PER_PACK } from "../core/publication.ts";
import type { OriginSet } from "../core/set.ts";
import { ORIGIN_SERVICE_ERRORS } from "./error-definitions.ts";
import { OriginServiceError } from "./errors.ts";
import type { HeadStore } from "./store.ts";

export interface OriginRoutes {
  readonly sets: readonly OriginSet[];
  readonly heads: Pick<HeadStore, "newest" | "from">;
}

export const ORIGIN_ROUTE_ERRORS = {
  ...SERVER_ERRORS,
  ...ORIGIN_SERVICE_ERRORS,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
} satisfies ErrorTable;

const tags = ["origins"];
const refusals = errorResponses(ORIGIN_ROUTE_ERRORS, "ORIGIN_HEADS_UNKNOWN", "STORE_UNAVAILABLE", ...ROUTE_CODES);
const place = {
  key: Type.String({ maxLength: 42, description: "the account with whose key the curator signs heads" }),
  name: Type.String({ maxLength: 32, description: "name of the set" }),
};
const Head = Type.Unsafe<unknown>({ type: "object", description: "a signed head, as its curator publishes it" });
const Heads = Type.Unsafe<unknown>({
  type: "string",
  description: `lines of signed heads, at most ${HEADS_PER_PACK}, as the curator publishes them`,
});
/** A pack that is full never changes. */
const FULL = "public, max-age=31536000, immutable";

/** The files with a curator's heads, below `/origins/KEY/NAME`: a mirror is read as its curator is. */
export function originRoutes(app: App, { sets, heads }: OriginRoutes): void {
  const setOf = ({ key, name }: { readonly key: string; readonly name: string }): OriginSet => {
    const found = sets.find((set) => set.curator === key.toLowerCase() && set.name === name);
    if (found === undefined)
      throw new OriginServiceError("ORIGIN_HEADS_UNKNOWN", "this service does not mirror a set of this key and name");
    return found;
  };
  app.get(
    "/origins/:key/:name/head.json",
    {
      schema: {
        tags,
        summary: "The newest head of a curator's set that this service has read",
        params: Type.Object(place),
        response: { 200: Head, ...refusals },
      },
    },
    async ({ params }, reply) => {
      const content = await heads.newest(setOf(params));
      if (content === undefined)
        throw new OriginServiceError("ORIGIN_HEADS_UNKNOWN", "this service has read no head of this set yet");
      reply.header("cache-control", "no-cache").type("application/json; charset=utf-8").serializer(asItIs);
      return reply.send(content as never);
    },
  );
  app.get(
    "/origins/:key/:name/heads/:pack",
    {
      schema: {
        tags,
        summary: "The first head of each number and slot that this service has read",
        params: Type.Object({ ...place, pack: Type.String({ maxLength: 20, description: "number, and .jsonl" }) }),
        response: { 200: Heads, ...refusals },
      },
    },
    async ({ params }, reply) => {
      const set = setOf(params);
      const pack = /^(0|[1-9][0-9]{0,12})\.jsonl$/.exec(params.pack)?.[1];
      const first = Number(pack) * HEADS_PER_PACK;
      const lines = pack === undefined ? [] : await heads.from(set, first, HEADS_PER_PACK);
      // A mirror that began later has no part of a pack.
      if (lines.length === 0 || (JSON.parse(lines[0]!) as { number: number }).number !== first)
        throw new OriginServiceError("ORIGIN_HEADS_UNKNOWN", "this service has no such pack of heads");
      reply.header("cache-control", lines.length === HEADS_PER_PACK ? FULL : "no-cache");
      reply.type("application/jsonl; charset=utf-8").serializer(asItIs);
      return reply.send(lines.map((line) => `${line}\n`).join("") as never);
    },
  );
}

const asItIs = (text: unknown): string => text as string;
