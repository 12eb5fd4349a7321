import { join } from "node:path";
import { parseInstructions } from "@sotto/protocol";
import { CommandError } from "../../lib/command.ts";
import { usdc } from "../amounts.ts";
import { startChild } from "../child.ts";
import { short } from "../observer.ts";
import type { Shop, ShopsOrder } from "../shops-process.ts";
import type { Step } from "../step.ts";
import { indent, progress, table } from "../terminal.ts";
import { expectThere, type World } from "../world.ts";

/** Four servers of one wallet: they share the store in which used payments are remembered. */
function openShops(world: World): Promise<readonly Shop[]> {
  const { merchant, service, pool, chain, folder } = world;
  const { viewingKey } = merchant.wallet.exportViewingKey();
  const order: ShopsOrder = {
    recipient: { ...expectThere(world.recipient, "recipient"), viewingKey },
    service: service.url,
    chain: { rpcUrls: [chain.url], chainId: chain.id, pool },
    store: `sqlite:${join(folder, "payments.sqlite")}`,
  };
  return startChild("shops-process.ts", { environment: {}, order }, world.cleanup);
}

export const challenge: Step = {
  title: "The merchant opens four shops, each by one line; who asks without paying is told what to pay",
  async play(world) {
    const shops = await progress(world.screen, "opening shops on Express, Fastify, Hono and on no framework", () =>
      openShops(world),
    );
    world.shops = shops;
    const lines = shops.map(({ name, framework, line, origin, price }) => [
      ...[name, framework, line, origin, `${price} USDC`],
    ]);
    world.screen.write(indent(table(lines)));
    const url = `${shops[0]?.origin}/articles/1`;
    const response = await fetch(url);
    if (response.status !== 402) throw new CommandError("NOT_CHARGED", `${url} answers ${response.status}`);
    const { payment, metadata } = parseInstructions(await response.json());
    const { recipient } = payment;
    const rows = [
      ["www-authenticate", String(response.headers.get("www-authenticate"))],
      ["payment.amount", `${payment.amount} ${payment.currency} (exactly ${payment.amountBaseUnits} base units)`],
      ["payment.recipient", `${recipient.phone}, wallet ${recipient.wallet}`],
      [
        "  .shieldedAddress",
        `${short(recipient.shieldedAddress)}, signed by the wallet: ${short(recipient.signature)}`,
      ],
      ["payment.verifyEndpoint", payment.verifyEndpoint],
      ["payment.settleEndpoint", payment.settleEndpoint],
      ["metadata.resource", metadata.resource],
    ];
    world.screen.write(`\n   GET ${url}\n   ${response.status} ${response.statusText}\n${indent(table(rows))}`);
    return {
      agent: [`${usdc(BigInt(payment.amountBaseUnits))} for an article: asked like anybody, and told the price`],
      merchant: ["its shops hold the viewing key: a stolen server can read what came in, and spend nothing"],
    };
  },
};
