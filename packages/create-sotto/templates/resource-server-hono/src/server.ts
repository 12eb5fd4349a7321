import { serve } from "@hono/node-server";
import { sotto } from "@sotto/resource-server/hono";
import { Hono } from "hono";
import { options } from "./options.ts";
import { host, origin, port } from "./settings.ts";

const app = new Hono();
const paywall = sotto(options);

app.get("/", (c) => c.text("GET /report costs 0.01 USDC.\n"));
// The schedule of the recipient's addresses, which payers check.
app.use("/.well-known/sotto/*", paywall);
app.get("/report", paywall, (c) => {
  const payment = c.get("payment");
  return c.text(`The report. ${payment?.amount ?? "Some"} base units were paid for ${payment?.resource}.\n`);
});

await paywall.ready;
const server = serve({ fetch: app.fetch, port, hostname: host }, () => console.log(`${origin}/report`));
// The paywall records the last responses, so it closes after the server.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close(() => void paywall.close()));
