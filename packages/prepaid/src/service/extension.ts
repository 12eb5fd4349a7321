import { ContractChecks, chainCall, openSignatureChain } from "@sotto/phone-registry";
import type { EthCall } from "@sotto/protocol";
import { live, parse, type ServiceCore, type ServiceExtension, setting } from "@sotto/server";
import { Counter } from "prom-client";
import { PrepaidMirror } from "./mirror.ts";
import { PREPAID_ROUTE_ERRORS, prepaidRoutes } from "./routes.ts";
import { schedulesOf } from "./store.ts";
import { type PrepaidTables, TABLES } from "./tables.ts";
import { termsOf } from "./terms-store.ts";

const SETTINGS = {
  prepaidClientQuota: live(
    setting(
      "SOTTO_PREPAID_CLIENT_QUOTA",
      parse.integer(0),
      "24",
      "pushes of prepaid schedules and metered terms per network and day; invalid ones count too",
    ),
  ),
  prepaidQuota: live(
    setting(
      "SOTTO_PREPAID_QUOTA",
      parse.integer(0),
      "200",
      "new prepaid schedules and metered terms per day, of all clients; each has at most 128 or 256 KiB and is kept forever; 0 keeps no new ones",
    ),
  ),
} as const;

type Core = ServiceCore<typeof SETTINGS>;

/** What checks signatures of contract wallets, and takes nodes that are configured later. */
interface SignatureCalls {
  readonly call: EthCall;
  useNodes(nodes: Core["nodes"]): void;
}

/** The mirror as an extension of a service, with the nodes that its signatures are checked by. */
export const mirrorExtension = (callsOf: (core: Core) => SignatureCalls): ServiceExtension<typeof SETTINGS> => ({
  name: "prepaid",
  settings: SETTINGS,
  tables: TABLES,
  errors: PREPAID_ROUTE_ERRORS,
  tag: { name: "prepaid", description: "mirror of the keys of prepaid tokens, and of the terms of metered routes" },
  documented: (app) => prepaidRoutes(app, {} as never),
  open(core) {
    const { settings, place, database, quotas, metrics, clock, clientOf } = core;
    const limits = { client: settings.prepaidClientQuota!, all: settings.prepaidQuota! };
    const pushes = new Counter({
      name: "sotto_prepaid_pushes_total",
      help: "pushed schedules of prepaid keys and terms of metered routes by result: accepted, known, or the error's code",
      labelNames: ["result"],
      registers: [metrics],
    });
    for (const result of ["accepted", "known", ...Object.keys(PREPAID_ROUTE_ERRORS)]) pushes.inc({ result }, 0);
    const calls = callsOf(core);
    const contracts = new ContractChecks({ call: calls.call, perHour: limits.client, clock });
    const tables = database<PrepaidTables>();
    const mirror = new PrepaidMirror({
      place,
      limits,
      schedules: schedulesOf(tables, quotas, clock),
      terms: termsOf(tables, quotas, clock),
      quotas,
      contracts,
      pushed: (result) => pushes.inc({ result }),
    });
    return {
      routes: (app) => prepaidRoutes(app, { mirror, clientOf }),
      reload:
        ({ settings: next, nodes }) =>
        () => {
          limits.client = next.prepaidClientQuota!;
          limits.all = next.prepaidQuota!;
          contracts.configure(limits.client);
          calls.useNodes(nodes);
        },
    };
  },
});

/** A mirror of the keys of prepaid tokens and the terms of metered routes, as an extension of a service. */
export const prepaidExtension = mirrorExtension(({ nodes, place, log, clock }) => {
  // Nodes of its own: see `openSignatureChain`.
  const chain = openSignatureChain({ ...nodes, chainId: BigInt(place.chainId), log, clock });
  return { call: chainCall(chain), useNodes: ({ urls, timeoutMs }) => chain.useNodes(urls, timeoutMs) };
});
