// A resource server with the real paywall; the CLI created its wallet and signed its addresses.
import { readFileSync } from "node:fs";
import { parseMonthAddresses, parseViewingKeys } from "@sotto/protocol";
import { createPaywall } from "@sotto/resource-server";
import type { Cli } from "./cli.ts";
import { type CliWorld, listen, placeOf, type Server } from "./world.ts";

export interface ResourceServer extends Server {
  /** Number of paid requests that the handler served. */
  sold(): number;
  /** The amounts of their payments, base units, as the server read them with its viewing keys. */
  readonly amounts: readonly (bigint | undefined)[];
  /** Called before each response. If it resolves to false, the server never answers the request. */
  onRequest: (paying: boolean) => Promise<boolean>;
}

export const PRICE = "0.05";

/** @param merchant a wallet of the CLI, with its own account */
export async function openResourceServer(world: CliWorld, merchant: Cli): Promise<ResourceServer> {
  const file = merchant.path("addresses.json");
  await merchant.json(["address", "schedule", "--replace", "--out", file]);
  const keys = await merchant.run(["view-key", "--next", "--out", "-"]);
  const recipient = {
    addresses: parseMonthAddresses(JSON.parse(readFileSync(file, "utf8"))),
    viewingKeys: parseViewingKeys(keys.stdout, placeOf(world)),
  };
  let sold = 0;
  const amounts: (bigint | undefined)[] = [];
  const server: Pick<ResourceServer, "onRequest"> = { onRequest: async () => true };
  const opened = await listen(async (request, response) => {
    if (!(await server.onRequest(request.headers["x-payment-proof"] !== undefined))) return;
    const { method = "GET", url: target = "/", headersDistinct } = request;
    const paywall = await ready;
    const decision = await paywall.decide({ method, target, header: (name) => headersDistinct[name] ?? [] });
    if (decision.kind === "refused") {
      response.writeHead(decision.status, { "content-type": "application/json", ...decision.headers });
      response.end(JSON.stringify(decision.body));
      return;
    }
    if (decision.kind === "answered") {
      response.writeHead(decision.status, decision.headers);
      response.end(decision.body);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    sold += 1;
    if (decision.kind === "paid" && decision.payment.kind === "payment") amounts.push(decision.payment.amount);
    const text = `${method} ${target} ${Buffer.concat(chunks).toString()}`.trim();
    response.writeHead(target.startsWith("/missing") ? 404 : 200, { "content-type": "text/plain", "x-goods": "1" });
    response.end(text);
    if (decision.kind === "paid") await decision.finish(response.statusCode);
  });
  const ready = createPaywall({
    origin: opened.url,
    price: PRICE,
    free: ["/health"],
    recipient,
    service: world.service.url,
    chain: { rpcUrls: [world.node.url], chainId: world.chainId, pool: world.pool },
  });
  const paywall = await ready;
  const close = async () => {
    await opened.close();
    await paywall.close();
  };
  return Object.assign(server, { url: opened.url, sold: () => sold, amounts, close });
}
