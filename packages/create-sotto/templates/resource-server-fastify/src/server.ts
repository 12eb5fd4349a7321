import { sotto } from "@sotto/resource-server/fastify";
import fastify from "fastify";
import { options } from "./options.ts";
import { host, origin, port } from "./settings.ts";

const app = fastify();

app.get("/", async () => "GET /report costs 0.01 USDC.\n");
// The paywall charges for all routes of the instance on which it is registered.
await app.register(async (paid) => {
  await paid.register(sotto, options);
  paid.get("/report", async ({ payment }) => {
    return `The report. ${payment?.amount ?? "Some"} base units were paid for ${payment?.resource}.\n`;
  });
});

await app.listen({ port, host });
console.log(`${origin}/report`);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void app.close());
