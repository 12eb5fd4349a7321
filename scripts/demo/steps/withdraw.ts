import { RELAYER_FEE, usdc, WITHDRAWN } from "../amounts.ts";
import { observe, short } from "../observer.ts";
import { seenInWithdrawal } from "../service-view.ts";
import { receiptOf, type Step } from "../step.ts";
import { progress } from "../terminal.ts";

/** The service submits it for a fee out of the notes: the merchant needs no ETH either. */
export const withdraw: Step = {
  title: "The merchant withdraws to its wallet",
  async play(world) {
    const { account, wallet } = world.merchant;
    const fee = { amount: RELAYER_FEE, recipient: world.relayer.address };
    const request = { recipient: account.address, amount: WITHDRAWN, fee };
    const withdrawal = await progress(world.screen, "proving the withdrawal", () => wallet.withdraw(request));
    const receipt = await receiptOf(world, (await world.service.withdraw(withdrawal.withdraw)).txSignature);
    await wallet.scan();
    return {
      payer: ["nothing new"],
      merchant: [
        `${usdc(WITHDRAWN)} arrived at ${short(account.address)}`,
        `paid the relayer ${usdc(RELAYER_FEE)} and no gas`,
        `${usdc(wallet.balance().total)} stays shielded`,
      ],
      observer: [...observe(world, receipt), "withdrawals are public; which payments they come from is not"],
      service: seenInWithdrawal(withdrawal.withdraw),
    };
  },
};
