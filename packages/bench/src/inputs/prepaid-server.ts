// A server for `pnpm bench prepaid`: `/paid` is behind the paywall, `/unpaid` is the same route without one.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type PrepaidOptions, prepaid } from "@sotto/prepaid/server";
import type { PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { serveOrder } from "./child-server.ts";

/** What the parent sends. */
export interface PrepaidServerOrder {
  readonly options: PaywallOptions;
  readonly tokens: PrepaidOptions;
}

await serveOrder<PrepaidServerOrder>(async ({ options, tokens }) => {
  const paywall = sotto({ ...options, methods: [prepaid(tokens)] });
  await paywall.ready;
  const app = express();
  const answer = (_request: express.Request, response: express.Response) => void response.send("the goods");
  app.get("/unpaid", answer);
  app.use("/.well-known/sotto/prepaid", paywall);
  app.get("/paid", paywall, answer);
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
