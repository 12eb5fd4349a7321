import { dismissPurchase, openPurchases } from "@sotto/client";
import type { Command } from "../command.ts";
import { amountFields, listed, money } from "../format.ts";
import { printable } from "../frame/output.ts";
import { scan, withWallet } from "../session.ts";

export const purchases: Command = {
  name: "purchases",
  summary: "Lists open purchases: to be resumed, or to be dismissed.",
  positionals: [],
  options: {},
  details: [
    "paying: the same request resumes it. paid: the same request shows its proof. stopped: it was paid, and the server",
    "did not take the proof; the details are what a claim for a refund needs.",
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
  summary: "Closes a stopped purchase, or one that can no longer be paid.",
  positionals: ["ID"],
  options: {},
  details: [
    "The money of a stopped purchase is spent, and an equal request may be paid again. What was never paid no longer",
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
  summary: "Lists withdrawals and merges, with what became of them.",
  positionals: [],
  options: {},
  details: [
    "open: it may still be executed, and holds its notes; withdraw --again tries once more. expired: its notes are free.",
    "failed: its notes were spent otherwise. The journal knows them: a wallet restored from words does not.",
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
