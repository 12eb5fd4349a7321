import { isSecureUrl } from "@sotto/protocol";
import { codeOf, type OpenExtension, type ServiceExtension, setting } from "@sotto/server";
import { Counter } from "prom-client";
import { MAX_ORIGIN_HEADER_LENGTH } from "../core/header.ts";
import { readHeadFields } from "../core/heads.ts";
import { HeadWatch } from "../heads/watch.ts";
import { OriginPolicy } from "./policy.ts";
import { ORIGIN_ROUTE_ERRORS, originRoutes } from "./routes.ts";
import { parseServiceSets } from "./sets.ts";
import { headsOf } from "./store.ts";
import { type OriginTables, TABLES } from "./tables.ts";

const SETTINGS = {
  origins: setting(
    "SOTTO_ORIGINS",
    parseServiceSets,
    "",
    'JSON list of 1 to 4 sets of curators, such as [{"curator":"https://curator.example","key":"0x..","name":"clean"}]: their heads are mirrored, and payments must show each set; with "recipients", a list of wallets and shielded addresses, only payments to these must, and with an empty list none; "maxAgeMs" is how long before the payment the shown root may have been replaced, an hour by default; empty for none',
  ),
} as const;

const REFUSALS = ["ORIGIN_REQUIRED", "ORIGIN_REFUSED", "ORIGIN_UNCHECKED"] as const;

/** Origins as a condition of payments, and a mirror of curators' heads, as an extension of a service. */
export const originsExtension: ServiceExtension<typeof SETTINGS> = {
  name: "origins",
  settings: SETTINGS,
  problems: ({ origins = [] }, { local, chainId }) =>
    origins
      .filter(({ curator }) => !isSecureUrl(curator, local ? BigInt(chainId) : undefined))
      .map(({ curator }) => `SOTTO_ORIGINS names ${curator}, which must be an https URL`),
  tables: TABLES,
  errors: ORIGIN_ROUTE_ERRORS,
  admits: {
    field: {
      name: "origin",
      maxLength: MAX_ORIGIN_HEADER_LENGTH,
      description:
        "origins of the note, as in the header X-Payment-Origin; required for some recipients by some services",
    },
    codes: REFUSALS,
  },
  tag: { name: "origins", description: "mirror of the heads of curators' sets" },
  documented: (app) => originRoutes(app, {} as never),
  async open({ settings, place, database, metrics, log, clock, verifyProof }) {
    const checks = new Counter({
      name: "sotto_origins_total",
      help: "payments that must show an origin, by result: accepted, or the error's code",
      labelNames: ["result"],
      registers: [metrics],
    });
    for (const result of ["accepted", ...REFUSALS]) checks.inc({ result }, 0);
    const heads = headsOf(database<OriginTables>(), clock);
    const watched = (settings.origins ?? []).map((asked) => {
      const { curator, key, name, maxAgeMs } = asked;
      const set = { chainId: place.chainId, pool: place.pool, curator: key, name };
      const onError = (err: unknown) => log.warn({ err, set: name }, "the heads of a curator's set cannot be read");
      const keep = heads.keep.bind(heads, set);
      return { asked, set, watch: new HeadWatch({ set, urls: [curator], maxAgeMs, clock, keep, onError }) };
    });
    for (const { set, watch, asked } of watched) {
      const kept = await heads.since(set, Math.floor((clock() - asked.maxAgeMs) / 1000));
      // Their signatures were checked when they were kept.
      watch.resume(kept.map((line) => readHeadFields(line, set)));
    }
    const policy = new OriginPolicy(watched, verifyProof);
    const admit: OpenExtension["admit"] = async (payment, shown) => {
      try {
        if (await policy.admit(payment, shown)) checks.inc({ result: "accepted" });
      } catch (error) {
        checks.inc({ result: codeOf(error, "INTERNAL") });
        throw error;
      }
    };
    const isRequired = watched.some(({ asked: { recipients } }) => recipients === undefined || recipients.length > 0);
    return {
      routes: (app) => originRoutes(app, { sets: watched.map(({ set }) => set), heads }),
      ...(isRequired && { admit }),
      start() {
        for (const { watch } of watched) watch.start();
      },
      close() {
        for (const { watch } of watched) watch.close();
      },
    };
  },
};
