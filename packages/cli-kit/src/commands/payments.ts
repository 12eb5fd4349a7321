import { paymentsCsv } from "@sotto/wallet/receipts";
import type { Command } from "../command.ts";
import { listed, money } from "../format.ts";
import { usage } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import { writePrivate } from "../home/files.ts";
import { scan, withWallet } from "../session.ts";

export const payments: Command = {
  name: "payments",
  summary: "Lists payments and what they were for; exports them as JSON or CSV.",
  positionals: [],
  options: {
    out: { help: "only payments by this wallet" },
    in: { help: "only payments to this wallet" },
    csv: { help: "write CSV (RFC 4180) instead of a table" },
    output: { value: "FILE", help: "write to this file (mode 0600)", short: "o" },
  },
  details: [
    "Outgoing payments come from the wallet's journal, incoming ones from the chain. In CSV, an apostrophe starts every",
    "cell that a spreadsheet would run as a formula.",
  ],
  async run(context) {
    const { args, output } = context;
    const [out, incoming] = [args.flag("out"), args.flag("in")];
    if (out && incoming) throw usage("--out and --in cannot be combined");
    if (args.flag("csv") && output.json) throw usage("--csv and --json cannot be combined");
    return withWallet(context, false, async (session) => {
      await scan(session);
      const { config, wallet } = session;
      const direction = out ? "out" : incoming ? "in" : undefined;
      const found = await wallet.payments({ decimals: config.decimals, direction });
      const json = found.map(({ block, ...entry }) => ({
        ...entry,
        amount: String(entry.amount),
        block: block ?? null,
      }));
      const file = args.text("output");
      if (file !== undefined) {
        const text = args.flag("csv") ? paymentsCsv(found) : `${JSON.stringify(json, null, 2)}\n`;
        writePrivate(file, text, false);
        return { json: { file, payments: found.length }, text: [`${found.length} payments written to ${file}`] };
      }
      if (args.flag("csv")) {
        output.raw(paymentsCsv(found));
        return undefined;
      }
      return {
        json,
        text: listed(
          found.map(({ id, direction: way, state, amount, resource, begun, settled }) => [
            begun || settled,
            way,
            money(amount, config),
            state,
            id,
            printable(resource),
          ]),
          "no payments",
        ),
      };
    });
  },
};
