import type { SwaggerOptions } from "@fastify/swagger";

/** Version of the interface: see docs/versioning.md. */
const API_VERSION = "1.0.0";

/** The tag of the registry's endpoints in OpenAPI. */
export const PHONE_TAG = { name: "phone", description: "phone number to wallet and shielded address" };

/** The OpenAPI options of a registry that runs as its own server. */
export const registryOpenApi = (basePath: string): SwaggerOptions => ({
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "sotto phone registry",
      description: "Links phone numbers to wallets and their shielded addresses, signed by the wallets.",
      version: API_VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    tags: [PHONE_TAG, { name: "health", description: "liveness and readiness" }],
  },
  stripBasePath: true,
});
