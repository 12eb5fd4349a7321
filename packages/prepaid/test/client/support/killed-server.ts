// The server of metered credit in a process of its own, which killed-at.mjs kills at a write.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deserialize } from "node:v8";
import { createPaywall } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import type { MeteredRule } from "../../../src/index.ts";
import type { MeteredOptions } from "../../../src/server/metered/config.ts";
import { meteredBy, meteredCredit, prepaid } from "../../../src/server.ts";
import type { ServerOptions } from "../../server/support/merchant.ts";
import { startPoolNode } from "../../server/support/pool-node.ts";

export interface KilledServerOrder {
  readonly options: Omit<ServerOptions, "prepaid" | "metered">;
  readonly prepaid: ServerOptions["prepaid"];
  readonly metered: Omit<MeteredOptions, "prepaid">;
  /** Of every request. */
  readonly rule: MeteredRule;
  /** How far its clock is ahead of the machine's, ms. */
  readonly ahead: number;
}

process.once("disconnect", () => process.exit(0));
const order = deserialize(Buffer.from(process.env["SERVER_ORDER"]!, "base64")) as KilledServerOrder;
const clock = () => Date.now() + order.ahead;
const node = await startPoolNode(clock);
const tokens = prepaid(order.prepaid);
const paywall = await createPaywall({
  ...order.options,
  routes: [{ path: "/*", method: "GET", price: meteredBy(order.rule) }],
  chain: { ...order.options.chain, rpcUrls: [node.url] },
  methods: [tokens, meteredCredit({ ...order.metered, prepaid: tokens })],
  clock,
  // Nobody reads them.
  onEvent: () => undefined,
});
const middleware = sotto(paywall);
const server = createServer((request, response) =>
  middleware(request, response, () => {
    // A response that leaves in parts does not say its charge.
    if (request.url === "/stream") response.write("served in ");
    response.end("parts");
  }),
);
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
