// A server for `pnpm bench prepaid`, in a process of its own: `/paid` is behind the paywall, `/unpaid` is the same route
// without one.
import type { AddressInfo } from "node:net";
import { type PrepaidOptions, prepaid } from "@sotto/prepaid/server";
import type { PaywallOptions } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import express from "express";

/** What the parent sends. */
export interface BenchServerOrder {
  readonly options: PaywallOptions;
  readonly tokens: PrepaidOptions;
}

export type BenchServerMessage = { readonly url: string } | { readonly error: string };

const send = (message: BenchServerMessage) => process.send?.(message);
process.once("disconnect", () => process.exit(0));

try {
  const { options, tokens } = JSON.parse(process.env["BENCH_OPTIONS"] ?? "") as BenchServerOrder;
  const paywall = sotto({ ...options, methods: [prepaid(tokens)] });
  await paywall.ready;
  const app = express();
  const answer = (_request: express.Request, response: express.Response) => void response.send("the goods");
  app.get("/unpaid", answer);
  app.use("/.well-known/sotto/prepaid", paywall);
  app.get("/paid", paywall, answer);
  const server = app.listen(0, "127.0.0.1", () => {
    send({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
} catch (error) {
  send({ error: error instanceof Error ? error.message : String(error) });
  process.disconnect();
}
