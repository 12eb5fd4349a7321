import { splitAmount } from "@sotto/client";
import { DEPOSITED, NOTES, usdc } from "../amounts.ts";
import { short } from "../observer.ts";
import { appended, type Step } from "../step.ts";

/** An EIP-3009 authorization: the agent signs, the service's relayer submits, and nobody can redirect the notes. */
export const deposit: Step = {
  title: "An agent, whose account owns no ETH, signs a deposit of test dollars; the service submits it",
  async play(world) {
    const { account, wallet } = world.agent;
    const amounts = splitAmount(DEPOSITED, NOTES);
    await world.service.deposit(await wallet.authorizeDeposit({ amounts, account }));
    await appended(world);
    await wallet.scan();
    return {
      agent: [
        `signed one message as ${short(account.address)}`,
        `can spend ${usdc(wallet.balance().spendable)} in ${NOTES} notes: as many payments at the same time`,
      ],
    };
  },
};
