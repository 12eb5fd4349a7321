import type { Command } from "../command.ts";
import { amountFields, listed, money, table } from "../format.ts";
import { scan, withWallet } from "../session.ts";

export const balance: Command = {
  name: "balance",
  summary: "Shows the wallet's balance.",
  positionals: [],
  options: {},
  details: [
    "spendable: can be spent now. held: reserved by payments that may still settle. queued: waits for the tree. pending:",
    "waits for confirmations. total: the sum.",
  ],
  async run(context) {
    return withWallet(context, false, async (session) => {
      await scan(session);
      const found = session.wallet.balance();
      const { config } = session;
      const parts = Object.entries(found);
      return {
        json: {
          ...Object.fromEntries(parts.map(([name, amount]) => [name, amountFields(amount, config)])),
          symbol: config.symbol,
          decimals: config.decimals,
        },
        text: table(parts.map(([name, amount]) => [name, money(amount, config)])),
      };
    });
  },
};

export const notes: Command = {
  name: "notes",
  summary: "Lists the wallet's notes.",
  positionals: [],
  options: { all: { help: "include spent notes" } },
  details: ["A payment spends one note: deposit several notes to pay in parallel, and merge small ones."],
  async run(context) {
    return withWallet(context, false, async (session) => {
      await scan(session);
      const { config, wallet } = session;
      const found = wallet.notes().filter(({ state }) => context.args.flag("all") || state !== "spent");
      return {
        json: found.map(({ leafIndex, amount, state, origin, blockNumber, transactionHash }) => ({
          leafIndex,
          ...amountFields(amount, config),
          state,
          origin,
          block: blockNumber,
          transaction: transactionHash,
        })),
        text: listed(
          found.map(({ leafIndex, amount, state, origin, transactionHash }) => [
            String(leafIndex),
            money(amount, config),
            state,
            origin,
            transactionHash,
          ]),
          "no notes",
        ),
      };
    });
  },
};
