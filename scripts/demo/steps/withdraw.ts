import { RELAYER_FEE, usdc, WITHDRAWN } from "../amounts.ts";
import { short } from "../observer.ts";
import { appended, type Step } from "../step.ts";
import { progress } from "../terminal.ts";

/** The service submits both, the withdrawal for a fee out of the notes: the merchant needs no ETH either. */
export const withdraw: Step = {
  title: "The merchant merges what it was paid, and withdraws",
  async play(world) {
    const { service, screen, relayer } = world;
    const { account, wallet } = world.merchant;
    const merged = await progress(screen, "proving the merge", () => wallet.merge());
    await service.withdraw(merged.withdraw);
    await appended(world);
    const fee = { amount: RELAYER_FEE, recipient: relayer.address };
    const request = { recipient: account.address, amount: WITHDRAWN, fee };
    const withdrawal = await progress(screen, "proving the withdrawal", () => wallet.withdraw(request));
    await service.withdraw(withdrawal.withdraw);
    await appended(world);
    await wallet.scan();
    return {
      merchant: [
        `${merged.notes.length} notes became one of ${usdc(merged.output)}`,
        `${usdc(WITHDRAWN)} arrived at ${short(account.address)}`,
        `paid the relayer ${usdc(RELAYER_FEE)} and no gas`,
        `${usdc(wallet.balance().total)} stay shielded`,
      ],
    };
  },
};
