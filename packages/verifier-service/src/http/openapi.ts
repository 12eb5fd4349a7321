import type { SwaggerOptions } from "@fastify/swagger";
import type { ServiceExtension } from "@sotto/server";
import type { Config } from "../config/config.ts";

/** Version of the interface: see docs/versioning.md. */
export const API_VERSION = "1.0.0";

export function openApiOptions(
  { basePath }: Pick<Config, "basePath">,
  extensions: readonly ServiceExtension[],
): SwaggerOptions {
  const added = extensions.flatMap(({ tag }) => tag ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "sotto verifier service",
        description:
          "Verifies private payments, settles them on chain, pays the gas, and serves the circuits' artifacts.",
        version: API_VERSION,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: basePath === "" ? "/" : basePath }],
      tags: [
        { name: "payments", description: "verify, settle" },
        { name: "relay", description: "deposits and withdrawals without gas" },
        ...added,
        { name: "deployment", description: "the pool that it settles in" },
        { name: "artifacts", description: "circuits and keys" },
        { name: "keys", description: "public keys of the payment tokens" },
        { name: "health", description: "liveness and readiness" },
      ],
    },
    stripBasePath: true,
  };
}
