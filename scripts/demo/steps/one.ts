import { type PurchaseStage, wrapFetch } from "@sotto/client";
import { CommandError } from "../../lib/command.ts";
import { MOST_PER_DAY, MOST_PER_REQUEST, usdc } from "../amounts.ts";
import type { Step } from "../step.ts";
import { paint, say } from "../terminal.ts";
import { expectThere } from "../world.ts";

const STAGES: Partial<Record<PurchaseStage, string>> = {
  challenge: "the 402 is read: its price is within the limits",
  recipient: "the wallet has signed the address, and the registry says that the number is its own",
  funds: "waits for a note",
  proving: "proves: a note of mine pays this address this price, and the rest is my change",
  verifying: "the service checks both proofs, and gives a token",
  settling: "its relayer settles on the chain, and pays the gas",
  confirming: "the wallet looks for its payment on the chain itself",
  paid: "paid",
  presenting: "asks again, with the proof",
  delivered: "the shop has checked it and answers",
};

export const one: Step = {
  title: "The agent pays: it has another fetch, and nothing else changes",
  async play(world) {
    const { agent, wire, service, screen } = world;
    const [shop] = expectThere(world.shops, "shops");
    world.pay = wrapFetch(wire.toShops, agent.wallet, {
      services: [service.url],
      phoneRegistry: service.url,
      maxPerRequest: MOST_PER_REQUEST,
      maxPerDay: MOST_PER_DAY,
      serviceFetch: wire.toService,
    });
    const limits = `maxPerRequest: ${MOST_PER_REQUEST}n, maxPerDay: ${MOST_PER_DAY}n`;
    const url = `${shop?.origin}/articles/1`;
    say(screen, `const pay = wrapFetch(fetch, wallet, { services, phoneRegistry, ${limits} });`);
    say(screen, `await pay("${url}");`);
    screen.write("\n");
    const before = agent.wallet.balance().total;
    const start = performance.now();
    const onProgress = ({ stage }: { stage: PurchaseStage }) => {
      const seconds = ((performance.now() - start) / 1000).toFixed(2).padStart(5);
      screen.write(`   ${paint(screen, "dim", `${seconds} s`)}  ${STAGES[stage] ?? stage}\n`);
    };
    const response = await world.pay(url, { sotto: { onProgress } });
    const sale = (await response.json()) as { goods: string; paid: string };
    say(screen, `${response.status} ${JSON.stringify(sale)}`);
    const price = BigInt(sale.paid);
    await agent.wallet.scan();
    const after = agent.wallet.balance().total;
    if (response.status !== 200 || after !== before - price)
      throw new CommandError("NOT_PAID_ONCE", `${response.status}, and ${before - after} base units were paid`);
    world.sales.push({ price, goods: sale.goods });
    return {
      agent: [`has ${sale.goods}; paid ${usdc(price)} and no gas`, `${usdc(after)} are left`],
      merchant: [`its shop has read with the viewing key that it was paid ${usdc(price)}`, "by whom? It is not said"],
    };
  },
};
