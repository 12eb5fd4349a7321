import { type App, CheckResult, type HealthOptions, healthRoutes, type ServiceExtension } from "@sotto/server";
import { Type } from "typebox";
import { CHECKS } from "../checks.ts";
import type { KeyRing } from "../token/key-ring.ts";

/** Describes readiness: the service's checks, and those of extensions, which may be off. */
function health(extensions: readonly ServiceExtension[]) {
  const described = extensions.filter(({ readiness }) => readiness !== undefined);
  const checks = Object.fromEntries(described.map(({ name }) => [name, Type.Optional(CheckResult)]));
  const told = ["Whether payments can be verified and settled now", ...described.map(({ readiness }) => readiness)];
  return { summary: told.join(", and "), checks: { ...CHECKS, ...checks } };
}

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
  readonly extensions: readonly ServiceExtension[];
}

/** The token keys, health and readiness, both at the root and below the base path. */
export function healthAndKeyRoutes(app: App, { keys, readiness, extensions }: HealthAndKeyOptions): void {
  app.get(
    "/.well-known/jwks.json",
    { schema: { tags: ["keys"], summary: "Public keys of the payment tokens", response: { 200: KeySet } } },
    async (_request, reply) => {
      reply.header("cache-control", "public, max-age=60");
      return (await keys.publicKeys()) as never;
    },
  );
  healthRoutes(app, { ...health(extensions), readiness });
}
