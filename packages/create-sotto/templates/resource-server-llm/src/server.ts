import { formatDecimalAmount } from "@sotto/protocol";
import { sotto } from "@sotto/resource-server/express";
import express from "express";
import { CHAT_PATH, chatRoutes } from "./chat.ts";
import { openUpstream } from "./model.ts";
import { options, priceNow } from "./options.ts";
import { host, origin, port } from "./settings.ts";

const app = express();
const paywall = sotto(options);
const upstream = await openUpstream();

app.get("/", (_request, response) => {
  const cap = formatDecimalAmount(priceNow().rule.cap, 6);
  response.type("text").send(`POST ${CHAT_PATH} costs what was used, at most ${cap} USDC.\n`);
});
// The schedule of the recipient's addresses, which payers check, and tokens, terms and change.
app.use("/.well-known/sotto", paywall);
app.use(chatRoutes(paywall, upstream, priceNow));

await paywall.ready;
const server = app.listen(port, host, () => console.log(`${origin}${CHAT_PATH}`));
// The paywall records the last responses, so it closes after the server.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => server.close(() => void paywall.close()));
