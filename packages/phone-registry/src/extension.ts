// The registry within a service: the same routes as alone, below the service's base path.
import { allowsDevelopment } from "@sotto/protocol";
import { type Environment, LOCAL_DEPLOYMENT, parse, type ServiceExtension, setting } from "@sotto/server";
import { phoneConfig, phoneProblems } from "./config/phone-config.ts";
import { PHONE_SETTINGS } from "./config/settings.ts";
import { PHONE_ROUTE_ERRORS } from "./error-definitions.ts";
import { PHONE_TAG } from "./http/openapi.ts";
import { phoneRoutes } from "./http/routes.ts";
import { openPhone } from "./plugin.ts";
import { chainCall, openSignatureChain } from "./signatures/chain.ts";
import { LOOKUP_HEADERS } from "./signatures/lookups.ts";

const SWITCH = "SOTTO_PHONE_REGISTRY";

const SETTINGS = {
  phoneRegistry: setting(
    SWITCH,
    parse.oneOf("on", "off"),
    "off",
    "on: the phone registry is served below the base path; the settings below configure it",
  ),
  ...PHONE_SETTINGS,
} as const;

/** The phone registry as an extension of a service. It is off unless SOTTO_PHONE_REGISTRY is on. */
export const phoneExtension: ServiceExtension<typeof SETTINGS> = {
  name: "phone",
  settings: SETTINGS,
  errors: PHONE_ROUTE_ERRORS,
  tag: PHONE_TAG,
  headers: LOOKUP_HEADERS,
  readiness: "whether the phone registry works",
  problems(values, place, environment) {
    if (values.phoneRegistry === "on") return phoneProblems(values, place);
    const without = Object.keys(environment).filter((name) => name.startsWith("SOTTO_PHONE_") && name !== SWITCH);
    return without.map((name) => `${name} has no effect unless ${SWITCH} is on`);
  },
  documented(app) {
    const nothing = {} as never;
    phoneRoutes(app, {
      registry: nothing,
      assertLookup: undefined,
      domain: { chainId: 0n, pool: "", service: "" },
      unverified: "show",
      defaultCountry: undefined,
      countries: undefined,
    });
  },
  async open({ settings, place, nodes, log, clock, metrics, address }) {
    if (settings.phoneRegistry === "off") return { reload: () => () => {} };
    const config = phoneConfig(settings, place);
    const chain = openSignatureChain({ ...nodes, chainId: config.chainId, log, clock });
    const service = await address();
    const { registry, routes, configure, close } = await openPhone({
      config,
      service,
      call: chainCall(chain),
      log,
      metrics,
      clock,
    });
    return {
      routes,
      ready: async () => void (await registry.ping()),
      reload(next) {
        const config = phoneConfig(next.settings, place);
        return () => {
          configure(config);
          chain.useNodes(next.nodes.urls, next.nodes.timeoutMs);
        };
      },
      close,
    };
  },
};

/**
 * Adds defaults for a local chain, unless NODE_ENV is production: the registry is on for the pool of `npm run deploy:local`, and
 * codes are written to a file. Variables of the environment take precedence.
 */
export function withPhoneDefaults(environment: Environment): Environment {
  const merged: Record<string, string | undefined> = { ...environment };
  const local = allowsDevelopment(environment, merged["SOTTO_CHAIN_ID"]);
  if (local && merged["SOTTO_DEPLOYMENT"] === LOCAL_DEPLOYMENT) merged[SWITCH] ??= "on";
  if (local && merged[SWITCH] === "on" && merged["SOTTO_PHONE_WEBHOOK_URL"] === undefined)
    merged["SOTTO_PHONE_SENDER"] ??= "file";
  return merged;
}
