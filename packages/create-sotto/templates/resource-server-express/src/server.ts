import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { options } from "./options.ts";
import { host, origin, port } from "./settings.ts";

const app = express();
const paywall = sotto(options);

app.get("/", (_request, response) => void response.type("text").send("GET /report costs 0.01 USDC.\n"));
// The schedule of the recipient's addresses, which payers check.
app.use("/.well-known/sotto", paywall);
app.get("/report", paywall, ({ payment }, response) => {
  response
    .type("text")
    .send(`The report. ${payment?.amount ?? "Some"} base units were paid for ${payment?.resource}.\n`);
});

await paywall.ready;
const server = app.listen(port, host, () => console.log(`${origin}/report`));
// The paywall records the last responses, so it closes after the server.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close(() => void paywall.close()));
