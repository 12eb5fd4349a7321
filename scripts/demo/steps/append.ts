import { usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import { appends, type Step } from "../step.ts";

/** Queued notes join the tree by one proof. Anyone may do it; the service does, as soon as a note is queued. */
export const appendQueue = (what: string): Step => ({
  title: `The service appends the queue to the tree: ${what} can now be spent`,
  async play(world) {
    const receipts = await appends(world);
    await world.payer.wallet.scan();
    await world.merchant.wallet.scan();
    return {
      payer: [`spendable ${usdc(world.payer.wallet.balance().spendable)}`],
      merchant: [`spendable ${usdc(world.merchant.wallet.balance().spendable)}`],
      observer: receipts.flatMap((receipt) => observe(world, receipt)),
      service: ["no request: it reads the queue from the chain, as anybody can"],
    };
  },
});
