// A server for `pnpm bench metered`: `/metered/N` charges for N words, `/single` costs as much as they cost at most, and `/unpaid`
// is the same route without a paywall.
import { once } from "node:events";
import { type MeteredOptions, meteredBy, meteredCredit, type PrepaidOptions, prepaid } from "@sotto/prepaid/server";
import type { PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { serveOrder } from "./child-server.ts";
import { RULE } from "./metered-rule.ts";

/** What the parent sends. */
export interface MeteredServerOrder {
  readonly port: number;
  readonly options: Omit<PaywallOptions, "price" | "routes" | "methods"> & { readonly origin: string };
  readonly tokens: PrepaidOptions;
  readonly credit: Omit<MeteredOptions, "prepaid">;
}

const { name } = RULE.units[0]!;

await serveOrder<MeteredServerOrder>(async ({ port, options, tokens, credit }) => {
  const method = prepaid(tokens);
  const paywall = sotto({
    ...options,
    price: RULE.cap,
    routes: [{ path: "/metered/*", method: "GET", price: meteredBy(RULE) }],
    methods: [method, meteredCredit({ ...credit, prepaid: method })],
  });
  await paywall.ready;
  const app = express();
  const answer = (_request: express.Request, response: express.Response) => void response.send("the goods");
  app.get("/unpaid", answer);
  app.use("/.well-known/sotto", paywall);
  app.get("/single", paywall, answer);
  app.get("/metered/:words{/:number}", paywall, async ({ params, query, payment }, response) => {
    const words = Number(params["words"]);
    const meter = payment?.meter;
    if (query["slow"] === undefined) meter?.add({ [name]: words });
    else {
      meter?.add({ [name]: 1 });
      await meter?.checkpoint();
      meter?.add({ [name]: words - 1 });
    }
    response.send("the goods");
  });
  // What the server still owes, base units.
  process.on("message", async () => {
    const outstanding = (await method.totals()).reduce((sum, key) => sum + key.outstanding, 0n);
    process.send?.({ outstanding: String(outstanding) });
  });
  const server = app.listen(port, "127.0.0.1");
  // Preparing requests takes longer than the default keep-alive timeout.
  server.keepAliveTimeout = 0;
  await once(server, "listening");
  return options.origin;
});
