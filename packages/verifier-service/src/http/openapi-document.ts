import { type App, createLog, type ServiceExtension } from "@sotto/server";
import type { Catalog } from "../artifacts/catalog.ts";
import { artifactRoutes } from "../artifacts/routes.ts";
import { readConfig } from "../config/config.ts";
import { discoveryRoutes } from "../discovery/routes.ts";
import { createApp } from "./app.ts";
import { healthAndKeyRoutes } from "./health-routes.ts";
import { paymentRoutes } from "./payment-routes.ts";

const ANY = {
  SOTTO_CHAIN_ID: "31337",
  SOTTO_POOL: `0x${"00".repeat(20)}`,
  SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
};

/** The OpenAPI document for the default base path, generated from the routes' schemas. It opens no database and connects to no node. */
export async function openApiDocument(extensions: readonly ServiceExtension[] = []): Promise<object> {
  const config = readConfig(ANY, extensions);
  const nothing = {} as never;
  const catalog: Catalog = {
    set: "",
    id: "",
    verificationKeys: {},
    circuits: new Map(),
    byHash: new Map(),
  };
  const app = await createApp({
    config,
    log: createLog("silent"),
    metrics: { observe: () => undefined },
    routes(root) {
      root.register(
        async (scope) => {
          healthAndKeyRoutes(scope as App, { keys: nothing, readiness: nothing, extensions });
          artifactRoutes(scope as App, catalog);
          paymentRoutes(scope as App, nothing, extensions);
          discoveryRoutes(scope as App, nothing, config.chainId);
          for (const { documented } of extensions) documented?.(scope as App);
        },
        { prefix: config.basePath },
      );
    },
  });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
