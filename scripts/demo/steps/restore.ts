import { CommandError } from "../../lib/command.ts";
import { usdc } from "../amounts.ts";
import { appended, type Step } from "../step.ts";

/** Everything a wallet knows of its money follows from its seed and the chain. */
export const restore: Step = {
  title: "The agent's wallet is thrown away and restored from its 24 words and the chain alone",
  async play(world) {
    const { agent } = world;
    await appended(world);
    await agent.wallet.scan();
    const before = agent.wallet.balance();
    agent.wallet = await world.openWallet(agent.words);
    const { total: unread } = agent.wallet.balance();
    await agent.wallet.scan();
    const after = agent.wallet.balance();
    if (after.total !== before.total || after.spendable !== before.spendable)
      throw new CommandError("RESTORE_INCOMPLETE", `restored ${usdc(after.total)}, expected ${usdc(before.total)}`);
    const unspent = agent.wallet.notes().filter(({ state }) => state === "spendable").length;
    return {
      agent: [
        `a new wallet on an empty store: ${usdc(unread)}`,
        `after reading the chain: ${usdc(after.total)} in ${unspent} notes, as before`,
      ],
    };
  },
};
