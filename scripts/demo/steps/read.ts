import { CommandError } from "../../lib/command.ts";
import { TIP, usdc } from "../amounts.ts";
import type { Step } from "../step.ts";
import { indent, table } from "../terminal.ts";

/** The server can lose its key to a thief and lose no money: it reads, and cannot spend. */
export const read: Step = {
  title: "The merchant's server, which holds only the viewing key, reads what was paid",
  async play(world) {
    const { server } = world.merchant;
    await server.scan();
    const received = server.received();
    const expected = [...world.sales.map(({ price }) => price), TIP];
    const total = expected.reduce((sum, price) => sum + price, 0n);
    if (received.length !== expected.length || server.total() !== total)
      throw new CommandError("NOT_READ", `read ${received.length} payments of ${usdc(server.total())}`);
    const counts = new Map<bigint, number>();
    for (const { amount } of received) counts.set(amount, (counts.get(amount) ?? 0) + 1);
    const sums = [...counts].map(([amount, count]) => [`${count} of`, usdc(amount), "=", usdc(amount * BigInt(count))]);
    world.screen.write(indent(table(sums)));
    return {
      merchant: [
        `${received.length} payments, ${usdc(total)}: exactly what was sold and sent`,
        "this key cannot spend it, and does not show who paid or what the owner spends",
      ],
    };
  },
};
