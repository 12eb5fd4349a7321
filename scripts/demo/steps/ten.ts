import { availableParallelism } from "node:os";
import { CommandError } from "../../lib/command.ts";
import { usdc } from "../amounts.ts";
import type { Shop } from "../shops-process.ts";
import type { Step } from "../step.ts";
import { say } from "../terminal.ts";
import { expectThere, type World } from "../world.ts";

/** What the agent asks of each shop; at each in this order, at all of them at the same time. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  news: ["/articles/2", "/articles/3", "/articles/4", "/articles/5"],
  weather: ["/forecast/berlin", "/forecast/lima"],
  words: ["/translate/quietly", "/translate/voce"],
  rates: ["/rates/EUR", "/rates/JPY"],
};

interface Bought {
  readonly seconds: number;
  readonly price: bigint;
}

/** The same plain call as of any fetch. @throws CommandError where it is not served */
async function buy(world: World, shop: Shop, target: string): Promise<Bought> {
  const start = performance.now();
  const response = await expectThere(world.pay, "paying fetch")(`${shop.origin}${target}`);
  const seconds = (performance.now() - start) / 1000;
  if (response.status !== 200) throw new CommandError("NOT_SERVED", `${shop.origin}${target}: ${response.status}`);
  const { goods, paid } = (await response.json()) as { goods: string; paid: string };
  const price = BigInt(paid);
  const row = [
    ...[response.status, shop.name.padEnd(7), shop.framework.padEnd(7), `GET ${target}`.padEnd(22)],
    ...[usdc(price), `${seconds.toFixed(1).padStart(5)} s`],
  ];
  say(world.screen, row.join("  "));
  world.sales.push({ price, goods });
  return { seconds, price };
}

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return ((sorted[middle] ?? 0) + (sorted[sorted.length - 1 - middle] ?? 0)) / 2;
};

/** Somebody has seen a header on its way and shows it again, for the same thing. */
async function replay({ screen, wire }: World, url: string): Promise<void> {
  const response = await fetch(url, { headers: { "x-payment-proof": wire.proof ?? "" } });
  const { message } = (await response.json()) as { message?: string };
  if (response.status !== 402) throw new CommandError("PAID_TWICE", `a proof is taken twice: ${response.status}`);
  say(
    screen,
    `${response.status}  to a thief who shows the last proof again, for the same thing: "${message}"`,
    "yellow",
  );
}

export const ten: Step = {
  title: "Ten requests to the four shops, four at a time, each paid from a note of its own",
  async play(world) {
    const { agent, screen } = world;
    const shops = expectThere(world.shops, "shops");
    const before = agent.wallet.balance().total;
    const start = performance.now();
    const bought: Bought[] = [];
    let last = "";
    const visit = async (shop: Shop) => {
      for (const target of REQUESTS[shop.name] ?? []) {
        bought.push(await buy(world, shop, target));
        last = `${shop.origin}${target}`;
      }
    };
    await Promise.all(shops.map(visit));
    const seconds = (performance.now() - start) / 1000;
    await replay(world, last);
    await agent.wallet.scan();
    const spent = before - agent.wallet.balance().total;
    const prices = bought.reduce((sum, { price }) => sum + price, 0n);
    if (spent !== prices) throw new CommandError("PAID_TWICE", `spent ${usdc(spent)} for ${usdc(prices)}`);
    const middle = median(bought.map((one) => one.seconds)).toFixed(1);
    const each = `${bought.length} paid requests in ${seconds.toFixed(1)} s; median ${middle} s from request to goods. Everything, the chain too, shares ${availableParallelism()} cores here`;
    say(screen, each, "green");
    return {
      agent: [
        `spent ${usdc(spent)}, exactly the ${bought.length} prices: nothing was paid twice`,
        `${usdc(agent.wallet.balance().total)} are left`,
      ],
      merchant: ["its shops share one store: a proof opens one answer, at one of them"],
    };
  },
};
