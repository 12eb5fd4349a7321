// The preferences of RFC 7240 that settle understands: respond-async, and wait beside it.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "./hold.ts";

export interface Preferences {
  readonly respondAsync: boolean;
  /** Seconds that the client is prepared to wait; undefined: it named none, or no whole number of at most six digits. */
  readonly wait: number | undefined;
}

/** A preference with its value, up to the next comma; a quoted string may hold commas. Parameters are ignored. */
const PREFERENCE =
  /([!#$%&'*+\-.^_`|~0-9a-z]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?(?:"[^"]*"|[^,"])*(?:,|$)/gi;
/** The server limits all headers together; a longer value of this one is not read. */
const MAX_LENGTH = 256;

/** Reads `Prefer`. The first of two equal preferences counts, and unknown ones are ignored, as the RFC says. */
export function readPreferences(header: string | readonly string[] | undefined): Preferences {
  const text = [header ?? ""].flat().join(",");
  const found = new Map<string, string>();
  if (text.length <= MAX_LENGTH)
    for (const [, name = "", quoted, plain] of text.matchAll(PREFERENCE))
      if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted ?? plain ?? "");
  const wait = found.get("wait") ?? "";
  return { respondAsync: found.has("respond-async"), wait: /^[0-9]{1,6}$/.test(wait) ? Number(wait) : undefined };
}

/** Reads how long a client waits for a settlement. @param client its network address, as quotas name it */
export function callerOf({ headers }: FastifyRequest, { raw }: FastifyReply, client: string): Caller {
  const { respondAsync, wait = 0 } = readPreferences(headers["prefer"]);
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  return { client, asyncAfterMs: respondAsync ? wait * 1000 : undefined, gone: gone.signal };
}

/** Tells a client that asked for `pending` that it got it because it asked. */
export function tellApplied({ headers }: FastifyRequest, reply: FastifyReply): void {
  const { respondAsync, wait } = readPreferences(headers["prefer"]);
  if (!respondAsync) return;
  reply.header("preference-applied", wait === undefined ? "respond-async" : `respond-async, wait=${wait}`);
}
