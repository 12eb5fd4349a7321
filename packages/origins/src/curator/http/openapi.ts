import type { SwaggerOptions } from "@fastify/swagger";

/** Version of the interface: see docs/versioning.md. */
const API_VERSION = "1.0.0";

/** The OpenAPI options of a curator. */
export const curatorOpenApi = (basePath: string): SwaggerOptions => ({
  openapi: {
    openapi: "3.1.0",
    info: {
      title: "sotto curator",
      description: "Publishes a set of notes that descend from accepted deposits, and takes proofs of origin.",
      version: API_VERSION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    tags: [
      { name: "origins", description: "the files of a set, and claims" },
      { name: "health", description: "liveness and readiness" },
    ],
  },
  stripBasePath: true,
});
