import { CommandError } from "../../lib/command.ts";
import { usdc } from "../amounts.ts";
import type { Step } from "../step.ts";

/** Everything a wallet knows follows from its seed and the chain. */
export const restore: Step = {
  title: "The payer's wallet is thrown away and restored from its 24 words and the chain alone",
  async play(world) {
    const { payer } = world;
    const before = payer.wallet.balance();
    payer.wallet = await world.openWallet(payer.words);
    const { total: unread } = payer.wallet.balance();
    await payer.wallet.scan();
    const after = payer.wallet.balance();
    if (after.total !== before.total || after.spendable !== before.spendable)
      throw new CommandError("RESTORE_INCOMPLETE", `restored ${usdc(after.total)}, expected ${usdc(before.total)}`);
    const notes = payer.wallet.notes();
    return {
      payer: [
        `a new wallet on an empty store: ${usdc(unread)}`,
        `after reading the chain: ${usdc(after.total)}, as before`,
        ...notes.map(({ origin, amount, state }) => `${origin} of ${usdc(amount)}: ${state}`),
      ],
      merchant: ["nothing new"],
      observer: ["nothing: restoring leaves no trace on the chain"],
      service: ["nothing: no request"],
    };
  },
};
