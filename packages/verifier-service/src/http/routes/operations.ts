import { Type } from "@fastify/type-provider-typebox";
import { type App, UNLIMITED } from "@sotto/server";
import type { Readiness } from "../../ops/readiness.ts";
import type { KeyRing } from "../../token/key-ring.ts";

const tags = ["operations"];
const Status = Type.Object({ status: Type.String() });
const Check = Type.Object({ ok: Type.Boolean(), code: Type.Optional(Type.String()) });
const ReadyAnswer = Type.Object({
  ready: Type.Boolean(),
  checks: Type.Object({
    ...{ chain: Check, store: Check, artifacts: Check, relayer: Check },
    phone: Type.Optional(Check),
  }),
});
const KeySet = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      kid: Type.String(),
      alg: Type.String(),
      use: Type.String(),
    }),
  ),
});

export interface OperationRoutes {
  readonly keys: KeyRing;
  readonly readiness: () => Promise<Readiness>;
}

/** At the root and below the base path alike. */
export function operationRoutes(app: App, { keys, readiness }: OperationRoutes): void {
  app.get(
    "/.well-known/jwks.json",
    { schema: { tags, summary: "Public keys of the payment tokens", response: { 200: KeySet } } },
    async (_request, reply) => {
      reply.header("cache-control", "public, max-age=60");
      return (await keys.publicKeys()) as never;
    },
  );
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
        summary:
          "Whether chain, store, artifacts and the relayer's balance allow payments, and the phone registry answers",
        response: { 200: ReadyAnswer, 503: ReadyAnswer },
      },
    },
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
