import { DEPOSITED, usdc } from "../amounts.ts";
import { observe, short } from "../observer.ts";
import { seenInDeposit } from "../service-view.ts";
import { receiptOf, type Step } from "../step.ts";

/** An EIP-3009 authorization: the payer signs, the service's relayer submits, and nobody can redirect the note. */
export const deposit: Step = {
  title: "The payer, who owns no ETH, deposits test dollars; the service submits what the payer signed",
  async play(world) {
    const { account, wallet } = world.payer;
    const request = await wallet.authorizeDeposit({ amounts: [DEPOSITED], account });
    const receipt = await receiptOf(world, (await world.service.deposit(request)).txSignature);
    await wallet.scan();
    return {
      payer: [
        `signed one message as ${short(account.address)}`,
        `shielded balance ${usdc(wallet.balance().total)}`,
        "the note waits in the queue",
      ],
      merchant: ["nothing yet"],
      observer: [...observe(world, receipt), `from ${short(account.address)}: deposits are public`],
      service: seenInDeposit(request),
    };
  },
};
