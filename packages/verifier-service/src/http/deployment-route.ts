import { DEPLOYMENT_CONTRACTS, type DeploymentManifest } from "@sotto/protocol";
import { type App, errorResponses } from "@sotto/server";
import { Type } from "typebox";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import { ServiceError } from "../errors.ts";

const Contract = Type.Object({
  address: Type.String(),
  codeHash: Type.String({ description: "keccak256 of its code" }),
});
const Manifest = Type.Object({
  version: Type.Literal(1),
  network: Type.String(),
  set: Type.String({ description: "set of keys that the pool's verifiers belong to" }),
  chainId: Type.Integer(),
  pool: Type.String(),
  token: Type.String(),
  deploymentBlock: Type.Integer({ description: "a block before the pool's deployment" }),
  smallestDeposit: Type.String({ description: "base units" }),
  contracts: Type.Record(Type.Union(DEPLOYMENT_CONTRACTS.map((name) => Type.Literal(name))), Contract),
  verificationKeys: Type.Record(Type.String(), Type.String(), { description: "SHA-256 by circuit" }),
  finality: Type.Optional(Type.Integer({ description: "blocks on top of an event before wallets count it" })),
});

/** @param manifest undefined if the service was configured without one */
export function deploymentRoute(app: App, manifest: DeploymentManifest | undefined): void {
  const response = { 200: Manifest, ...errorResponses(ROUTE_ERRORS, "NOT_FOUND") };
  app.get(
    "/deployment",
    { schema: { tags: ["deployment"], summary: "The manifest of the pool", response } },
    async (_request, reply) => {
      if (manifest === undefined)
        throw new ServiceError("NOT_FOUND", "this service was started without a manifest (SOTTO_DEPLOYMENT)");
      reply.header("cache-control", "no-cache");
      const { finality, ...always } = manifest;
      return finality === undefined ? always : { ...always, finality };
    },
  );
}
