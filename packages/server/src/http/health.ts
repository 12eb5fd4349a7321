// Liveness (the process answers) and readiness (everything the server depends on works).

import { SottoError } from "@sotto/protocol";
import { type TProperties, Type } from "typebox";
import { UNLIMITED } from "./metrics.ts";
import type { App } from "./types.ts";

/** The state of one dependency. */
export interface Check {
  /** Whether the dependency works now. */
  readonly ok: boolean;
  /** Why it is not ok: an error's code, or UNEXPECTED. Undefined if it is ok. */
  readonly code?: string | undefined;
}

/** Whether a server can do its work now. */
export interface Readiness {
  /** True if every check is ok and the server is not closing. */
  readonly ready: boolean;
  /** The state of each dependency, by its name. */
  readonly checks: Readonly<Record<string, Check>>;
}

/** Checks one dependency. It is ok unless this throws or returns another result. */
export type Need = () => Promise<Check | undefined>;

/** Schema of a `Check`. */
export const CheckResult = Type.Object({ ok: Type.Boolean(), code: Type.Optional(Type.String()) });

const CACHED_MS = 2_000;

/** Checks all dependencies. Requests within two seconds share one result. */
export function createReadiness(
  needs: Readonly<Record<string, Need>>,
  closing: () => boolean,
  clock = Date.now,
): () => Promise<Readiness> {
  let cached: { readonly at: number; readonly state: Promise<Readiness> } | undefined;
  return async () => {
    if (cached === undefined || clock() - cached.at >= CACHED_MS) cached = { at: clock(), state: look(needs) };
    const state = await cached.state;
    return closing() ? { ...state, ready: false } : state;
  };
}

async function look(needs: Readonly<Record<string, Need>>): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(needs).map(async ([name, need]) => [name, await check(need)] as const),
  );
  return { ready: results.every(([, { ok }]) => ok), checks: Object.fromEntries(results) };
}

async function check(need: Need): Promise<Check> {
  try {
    return (await need()) ?? { ok: true };
  } catch (error) {
    return { ok: false, code: error instanceof SottoError ? error.code : "UNEXPECTED" };
  }
}

/** What the readiness endpoint checks and describes. */
export interface HealthOptions {
  /** Called for each request to `/readyz`; the response is 503 if it is not ready. */
  readonly readiness: () => Promise<Readiness>;
  /** Description of `/readyz`. */
  readonly summary: string;
  /** Schema of each check. */
  readonly checks: TProperties;
}

const tags = ["health"];
const Status = Type.Object({ status: Type.String() });

/** `/healthz`, `/readyz` and `/openapi.json`, both at the root and below the base path. */
export function healthRoutes(app: App, { readiness, summary, checks }: HealthOptions): void {
  const ReadyResponse = Type.Object({ ready: Type.Boolean(), checks: Type.Object(checks) });
  app.get(
    "/healthz",
    { ...UNLIMITED, schema: { tags, summary: "Whether the process answers", response: { 200: Status } } },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/readyz",
    { ...UNLIMITED, schema: { tags, summary, response: { 200: ReadyResponse, 503: ReadyResponse } } },
    async (_request, reply) => {
      const state = await readiness();
      return reply
        .code(state.ready ? 200 : 503)
        .header("cache-control", "no-store")
        .send(state);
    },
  );
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}
