// Liveness (the process answers) and readiness (everything the server depends on works).

import { SottoError } from "@sotto/protocol";
import type { Registry } from "prom-client";
import { type TProperties, Type } from "typebox";
import { metricsRoute, UNLIMITED } from "./metrics.ts";
import type { App } from "./types.ts";

/** The state of one dependency. */
export interface Check {
  /** Whether the dependency works now. */
  readonly ok: boolean;
  /** Why it is not ok: an error's code, UNEXPECTED if it has none. Undefined if it is ok. */
  readonly code?: string | undefined;
  /** Its parts that do not work, by name, with a code each. It may be ok without them. */
  readonly faults?: Readonly<Record<string, string>> | undefined;
}

/** Whether a server can do its work now. */
export interface Readiness {
  /** True if every check is ok and the server is not closing. */
  readonly ready: boolean;
  /** The first check that is not ok: those after it may have failed because of it. Undefined if all are ok. */
  readonly cause?: string;
  /** The state of each dependency, by its name. */
  readonly checks: Readonly<Record<string, Check>>;
}

/** Checks one dependency. It is ok unless this throws or returns another result. */
export type Need = () => Promise<Check | undefined>;

/** Schema of a `Check`. */
export const CheckResult = Type.Object({
  ok: Type.Boolean(),
  code: Type.Optional(Type.String()),
  faults: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: "code of each of its parts that does not work, by name; it may be ok without them",
    }),
  ),
});

const CACHED_MS = 2_000;

/** What readiness depends on. */
export interface ReadinessOptions {
  /** The checks by name, those first on whose dependencies others depend. */
  readonly needs: Readonly<Record<string, Need>>;
  /** Whether the server is shutting down. */
  readonly closing: () => boolean;
  /** Converts an error of a library; returns undefined for errors it does not know. */
  readonly translate: (error: unknown) => SottoError | undefined;
  /** Now, ms. Default: Date.now. */
  readonly clock?: (() => number) | undefined;
}

/** Checks all dependencies. Requests within two seconds share one result. */
export function createReadiness({
  needs,
  closing,
  translate,
  clock = Date.now,
}: ReadinessOptions): () => Promise<Readiness> {
  let cached: { readonly at: number; readonly state: Promise<Readiness> } | undefined;
  return async () => {
    if (cached === undefined || clock() - cached.at >= CACHED_MS)
      cached = { at: clock(), state: look(needs, translate) };
    const state = await cached.state;
    return closing() ? { ...state, ready: false } : state;
  };
}

type Translate = ReadinessOptions["translate"];

async function look(needs: ReadinessOptions["needs"], translate: Translate): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(needs).map(async ([name, need]) => [name, await check(need, translate)] as const),
  );
  const cause = results.find(([, { ok }]) => !ok)?.[0];
  return {
    ready: cause === undefined,
    ...(cause === undefined ? {} : { cause }),
    checks: Object.fromEntries(results),
  };
}

async function check(need: Need, translate: Translate): Promise<Check> {
  try {
    return (await need()) ?? { ok: true };
  } catch (error) {
    const known = error instanceof SottoError ? error : translate(error);
    return { ok: false, code: known?.code ?? "UNEXPECTED" };
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

/** What a server answers beside its own routes. */
export interface OperationRoutes {
  /** Base path of its own routes, "" for none. */
  readonly basePath: string;
  /** Undefined if `/metrics` has an address of its own. */
  readonly metrics: Registry | undefined;
  /** Defines the routes that are at the root and below the base path. */
  readonly health: (app: App) => void;
  /** Defines its own routes. */
  readonly routes: (app: App) => void;
}

/** `/metrics` at the root, health at the root and below the base path, and a server's own routes below the base path. */
export function operationRoutes(root: App, { basePath, metrics, health, routes }: OperationRoutes): void {
  if (metrics !== undefined) metricsRoute(root, metrics);
  health(root);
  if (basePath === "") routes(root);
  else
    root.register(
      async (scope) => {
        health(scope as App);
        routes(scope as App);
      },
      { prefix: basePath },
    );
}

/** `/healthz`, `/readyz` and `/openapi.json`, both at the root and below the base path. */
export function healthRoutes(app: App, { readiness, summary, checks }: HealthOptions): void {
  const ReadyResponse = Type.Object({
    ready: Type.Boolean(),
    cause: Type.Optional(
      Type.String({ description: "the first check that failed; others may have failed because of it" }),
    ),
    checks: Type.Object(checks),
  });
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
