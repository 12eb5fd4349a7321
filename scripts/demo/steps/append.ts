import { usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import { append, type Step } from "../step.ts";

/** Queued notes join the tree by one proof; anyone may do it. */
export const appendQueue = (what: string): Step => ({
  title: `The relayer appends the queue to the tree: ${what} can now be spent`,
  async play(world) {
    const receipt = await append(world);
    await world.payer.wallet.scan();
    await world.merchant.wallet.scan();
    return {
      payer: [`spendable ${usdc(world.payer.wallet.balance().spendable)}`],
      merchant: [`spendable ${usdc(world.merchant.wallet.balance().spendable)}`],
      observer: observe(world, receipt),
    };
  },
});
