import { dismissPurchase, openPurchases } from "@sotto/client";
import type { Command } from "../command.ts";
import { amountFields, listed, money } from "../format.ts";
import { printable } from "../frame/output.ts";
import { scan, withWallet } from "../session.ts";

export const purchases: Command = {
  name: "purchases",
  summary: "Lists open purchases, which can be resumed or dismissed.",
  positionals: [],
  options: {},
  details: [
    "paying: repeat the request to resume it. paid: repeat the request to show its proof. stopped: it was paid, but the",
    "server rejected the proof; the details support a refund claim.",
  ],
  async run(context) {
    return withWallet(context, false, async (session) => {
      await scan(session);
      const { config, wallet } = session;
      const open = await openPurchases(wallet);
      return {
        json: open.map(({ id, created, recipient, price, resourceUrl, service, state, problem }) => ({
          id,
          state,
          ...amountFields(price, config),
          recipientWallet: recipient,
          resource: resourceUrl,
          service,
          begun: new Date(created).toISOString(),
          problem: problem === undefined ? null : { code: problem.code, message: problem.message, ...problem.details },
        })),
        text: listed(
          open.map(({ id, price, resourceUrl, state }) => [id, state, money(price, config), printable(resourceUrl)]),
          "no open purchases",
        ),
      };
    });
  },
};

export const dismiss: Command = {
  name: "dismiss",
  summary: "Closes a purchase that is stopped or can no longer be paid.",
  positionals: ["ID"],
  options: {},
  details: [
    "A stopped purchase stays paid; afterwards the same request is paid again. A purchase that was never paid no longer",
    "counts against the limits.",
  ],
  async run(context) {
    const id = context.args.positional(0, "ID");
    return withWallet(context, false, async ({ wallet }) => {
      await dismissPurchase(wallet, id);
      return { json: { id, dismissed: true }, text: ["dismissed"] };
    });
  },
};

export const withdrawals: Command = {
  name: "withdrawals",
  summary: "Lists withdrawals and merges with their states.",
  positionals: [],
  options: {},
  details: [
    "open: it may still be executed and holds its notes; resume it with `sotto withdraw --again ID`. expired: its notes",
    "are released. failed: something else spent its notes. The list comes from the journal, so a wallet restored from",
    "words does not have the old ones.",
  ],
  async run(context) {
    return withWallet(context, false, async (session) => {
      await scan(session);
      const { config, wallet } = session;
      const found = wallet.history().filter(({ kind }) => kind === "withdrawal");
      return {
        json: found.map(({ id, state, amount, created, transactionHash, blockNumber }) => ({
          id,
          state,
          ...amountFields(amount, config),
          begun: new Date(created).toISOString(),
          transaction: transactionHash ?? null,
          block: blockNumber ?? null,
        })),
        text: listed(
          found.map(({ id, state, amount, transactionHash = "" }) => [
            id,
            state,
            money(amount, config),
            transactionHash,
          ]),
          "no withdrawals",
        ),
      };
    });
  },
};
