import { type App, CheckResult, type HealthOptions, healthRoutes } from "@sotto/server";
import { Type } from "typebox";
import type { KeyRing } from "../token/key-ring.ts";

const HEALTH = {
  summary: "Whether payments can be verified and settled now, and whether the phone registry works",
  checks: {
    chain: CheckResult,
    store: CheckResult,
    artifacts: CheckResult,
    head: CheckResult,
    fees: CheckResult,
    relayer: CheckResult,
    budget: CheckResult,
    leader: CheckResult,
    phone: Type.Optional(CheckResult),
  },
};
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

export interface HealthAndKeyOptions {
  readonly keys: KeyRing;
  readonly readiness: HealthOptions["readiness"];
}

/** The token keys, health and readiness, both at the root and below the base path. */
export function healthAndKeyRoutes(app: App, { keys, readiness }: HealthAndKeyOptions): void {
  app.get(
    "/.well-known/jwks.json",
    { schema: { tags: ["keys"], summary: "Public keys of the payment tokens", response: { 200: KeySet } } },
    async (_request, reply) => {
      reply.header("cache-control", "public, max-age=60");
      return (await keys.publicKeys()) as never;
    },
  );
  healthRoutes(app, { ...HEALTH, readiness });
}
