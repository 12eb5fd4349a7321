// The preferences of RFC 7240 that settlements support: respond-async and wait. hold.ts explains the wait.
import { parseTraceparent, type Tracing } from "@sotto/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "./hold.ts";

export interface Preferences {
  readonly respondAsync: boolean;
  /** Seconds that the client waits; undefined if absent or not a whole number of at most six digits. */
  readonly wait: number | undefined;
}

/** A preference with its value, up to the next comma; a quoted string may contain commas. Parameters are ignored. */
const PREFERENCE =
  /([!#$%&'*+\-.^_`|~0-9a-z]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?(?:"[^"]*"|[^,"])*(?:,|$)/gi;
/** A longer header is ignored. */
const MAX_LENGTH = 256;

/**
 * Parses `Prefer`. If a preference occurs twice, the first one applies; unknown ones are ignored, as the RFC requires.
 */
export function parsePreferences(header: string | readonly string[] | undefined): Preferences {
  const text = [header ?? ""].flat().join(",");
  const found = new Map<string, string>();
  if (text.length <= MAX_LENGTH)
    for (const [, name = "", quoted, plain] of text.matchAll(PREFERENCE))
      if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted ?? plain ?? "");
  const wait = found.get("wait") ?? "";
  return { respondAsync: found.has("respond-async"), wait: /^[0-9]{1,6}$/.test(wait) ? Number(wait) : undefined };
}

/** Parses how long a client waits for a settlement. @param client the id under which quotas count it */
export function callerOf(request: FastifyRequest, { raw }: FastifyReply, client: string, tracing: Tracing): Caller {
  const { headers } = request;
  const { respondAsync, wait = 0 } = parsePreferences(headers["prefer"]);
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  return {
    client,
    asyncAfterMs: respondAsync ? wait * 1000 : undefined,
    gone: gone.signal,
    begin: stepsOf(request, tracing),
  };
}

/** Begins the steps of a request's trace. */
export function stepsOf({ headers }: Pick<FastifyRequest, "headers">, tracing: Tracing): Caller["begin"] {
  const parent = parseTraceparent(headers["traceparent"]);
  return (name, known) => tracing.begin(name, { parent: parent ?? known, isRequest: true });
}

/** Sets `preference-applied` if the client requested `pending`. */
export function tellApplied({ headers }: FastifyRequest, reply: FastifyReply): void {
  const { respondAsync, wait } = parsePreferences(headers["prefer"]);
  if (!respondAsync) return;
  reply.header("preference-applied", wait === undefined ? "respond-async" : `respond-async, wait=${wait}`);
}
