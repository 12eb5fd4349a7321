import type { Command } from "../command.ts";
import { amountFields, counted, money } from "../format.ts";
import { scan as readBlocks, withWallet } from "../session.ts";

export const scan: Command = {
  name: "scan",
  summary: "Reads the chain's new blocks; can search for payments outside their month.",
  positionals: [],
  options: {
    all: { help: "also try every payment with the keys of all months" },
  },
  details: [
    "A command that needs new blocks reads them first. A payment is tried with the keys of its month only. A program that",
    "does not know months may pay the address of March in May: --all finds such payments. It continues where the last search",
    "ended, also after Ctrl-C.",
  ],
  async run(context) {
    const { args, output, signal } = context;
    return withWallet(context, false, async (session) => {
      const { wallet, config } = session;
      await readBlocks(session);
      const onProgress = ({ block, to }: { block: number; to: number }) =>
        output.progress(`searching other months: block ${block} of ${to}`);
      const found = args.flag("all") ? await wallet.search({ onProgress, signal }) : undefined;
      const { total } = wallet.balance();
      return {
        json: { height: wallet.height, outsideMonth: found ?? null, total: amountFields(total, config) },
        text: [
          `read up to block ${wallet.height}`,
          ...(found === undefined ? [] : [`found ${counted(found, "payment")} outside the month of the paid address`]),
          `total ${money(total, config)}`,
        ],
      };
    });
  },
};
