import { usdc } from "../amounts.ts";
import type { Step } from "../step.ts";

/** The server can lose its key to a thief and lose no money: it reads, and cannot spend. */
export const read: Step = {
  title: "The merchant's server, which holds only the viewing key, reads what was paid",
  async play(world) {
    const { server } = world.merchant;
    await server.scan();
    const received = server.received();
    return {
      payer: ["nothing new"],
      merchant: [
        ...received.map(({ amount, origin, leafIndex }) => `${origin} of ${usdc(amount)}, leaf ${leafIndex}`),
        `received in all ${usdc(server.total())}`,
        "cannot spend it, cannot see what the owner spends",
      ],
      observer: ["nothing: reading leaves no trace on the chain"],
      service: ["nothing: no request"],
    };
  },
};
