import { phoneRoutes } from "@sotto/phone-registry";
import { type App, createLog } from "@sotto/server";
import type { Catalog } from "../artifacts/catalog.ts";
import { artifactRoutes } from "../artifacts/routes.ts";
import { readConfig } from "../config/config.ts";
import { discoveryRoutes } from "../discovery/routes.ts";
import { prepaidRoutes } from "../prepaid/routes.ts";
import { createApp } from "./app.ts";
import { healthAndKeyRoutes } from "./health-routes.ts";
import { paymentRoutes } from "./payment-routes.ts";

const ANY = {
  SOTTO_CHAIN_ID: "31337",
  SOTTO_POOL: `0x${"00".repeat(20)}`,
  SOTTO_RELAYER_KEY: `0x${"01".repeat(32)}`,
};

/** The OpenAPI document for the default base path, generated from the routes' schemas. It opens no database and connects to no node. */
export async function openApiDocument(): Promise<object> {
  const config = readConfig(ANY);
  const nothing = {} as never;
  const domain = { chainId: BigInt(config.chainId), pool: config.pool, service: "" };
  const phone = { registry: nothing, checkLookup: undefined, domain, unverified: "show" } as const;
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
          healthAndKeyRoutes(scope as App, nothing);
          artifactRoutes(scope as App, catalog);
          paymentRoutes(scope as App, nothing);
          discoveryRoutes(scope as App, nothing, config.chainId);
          prepaidRoutes(scope as App, nothing);
          phoneRoutes(scope as App, { ...phone, defaultCountry: undefined, countries: undefined });
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
