import { depositWithAuthorizationCall } from "@sotto/client";
import { DEPOSITED, usdc } from "../amounts.ts";
import { observe, short } from "../observer.ts";
import { relay, type Step } from "../step.ts";

/** An EIP-3009 authorization: the payer signs, the relayer submits, and nobody can redirect the note. */
export const deposit: Step = {
  title: "The payer, who owns no ETH, deposits test dollars; the relayer submits what the payer signed",
  async play(world) {
    const { account, wallet } = world.payer;
    const request = await wallet.authorizeDeposit({ amounts: [DEPOSITED], account });
    const receipt = await relay(world, depositWithAuthorizationCall(request));
    await wallet.scan();
    return {
      payer: [
        `signed one message as ${short(account.address)}`,
        `shielded balance ${usdc(wallet.balance().total)}`,
        "the note waits in the queue",
      ],
      merchant: ["nothing yet"],
      observer: [...observe(world, receipt), `from ${short(account.address)}: deposits are public`],
    };
  },
};
