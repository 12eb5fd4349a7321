import { Type } from "@fastify/type-provider-typebox";
import { SottoError } from "@sotto/protocol";
import { type App, UNLIMITED } from "@sotto/server";
import type { PhoneRegistry } from "../registry/phone-registry.ts";

const tags = ["operations"];
const Status = Type.Object({ status: Type.String() });
const Check = Type.Object({ ok: Type.Boolean(), code: Type.Optional(Type.String()) });
const ReadyAnswer = Type.Object({ ready: Type.Boolean(), checks: Type.Object({ store: Check, chain: Check }) });

export interface OperationSources {
  readonly registry: Pick<PhoneRegistry, "ping">;
  /** Throws where no node of the right chain answers. */
  readonly askChain: () => Promise<unknown>;
  readonly closing: () => boolean;
  readonly clock: () => number;
}

/** Several watchers within this time share an answer. */
const CACHED_MS = 2_000;

async function check(ask: () => Promise<unknown>): Promise<{ ok: boolean; code?: string }> {
  try {
    await ask();
    return { ok: true };
  } catch (error) {
    return { ok: false, code: error instanceof SottoError ? error.code : "UNAVAILABLE" };
  }
}

/** Health of a registry that runs alone. At the root and below the base path alike. */
export function operationRoutes(app: App, { registry, askChain, closing, clock }: OperationSources): void {
  let cached: { readonly at: number; readonly state: ReturnType<typeof look> } | undefined;
  const look = async () => {
    const [store, chain] = await Promise.all([check(() => registry.ping()), check(askChain)]);
    return { ready: store.ok && chain.ok, checks: { store, chain } };
  };
  app.get(
    "/healthz",
    { ...UNLIMITED, schema: { tags, summary: "Whether the process answers", response: { 200: Status } } },
    async () => ({ status: "ok" }),
  );
  app.get(
    "/readyz",
    {
      ...UNLIMITED,
      schema: {
        tags,
        summary: "Whether store and chain allow links and lookups",
        response: { 200: ReadyAnswer, 503: ReadyAnswer },
      },
    },
    async (_request, reply) => {
      if (cached === undefined || clock() - cached.at >= CACHED_MS) cached = { at: clock(), state: look() };
      const state = await cached.state;
      const ready = state.ready && !closing();
      return reply
        .code(ready ? 200 : 503)
        .header("cache-control", "no-store")
        .send({ ...state, ready });
    },
  );
  app.get("/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}
