import { usdc } from "../amounts.ts";
import { observe } from "../observer.ts";
import { seenInWithdrawal } from "../service-view.ts";
import { receiptOf, type Step } from "../step.ts";
import { progress } from "../terminal.ts";

export const merge: Step = {
  title: "The merchant merges the notes it was paid with into one",
  async play(world) {
    const { wallet } = world.merchant;
    const merged = await progress(world.screen, "proving the merge", () => wallet.merge());
    const receipt = await receiptOf(world, (await world.service.withdraw(merged.withdraw)).txSignature);
    await wallet.scan();
    return {
      payer: ["nothing new"],
      merchant: [
        `${merged.notes.length} notes became one of ${usdc(merged.output)}`,
        `balance ${usdc(wallet.balance().total)}`,
      ],
      observer: observe(world, receipt),
      service: seenInWithdrawal(merged.withdraw),
    };
  },
};
