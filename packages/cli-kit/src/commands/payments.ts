import { type ChargeEntry, oldestFirst, type PaymentEntry, paymentsCsv } from "@sotto/wallet/receipts";
import type { Command } from "../command.ts";
import { counted, listed, money } from "../format.ts";
import { usage } from "../frame/errors.ts";
import { printable } from "../frame/output.ts";
import type { Config } from "../home/config.ts";
import { writePrivate } from "../home/files.ts";
import { scan, withWallet } from "../session.ts";

export const payments: Command = {
  name: "payments",
  summary: "Lists payments and charges and what they were for; exports them as JSON or CSV.",
  positionals: [],
  options: {
    out: { help: "only payments by this wallet, and what it was charged" },
    in: { help: "only payments to this wallet" },
    csv: { help: "write CSV (RFC 4180) instead of a table" },
    output: { value: "FILE", help: "write to this file (mode 0600)", short: "o" },
  },
  details: [
    "Outgoing payments come from the wallet's journal, incoming ones from the chain. In CSV, an apostrophe starts every",
    "cell that a spreadsheet would run as a formula.",
    "A charge is what a merchant took for one request from credit that this wallet bought before. The purchase is a payment in",
    "this list, so charges have no `amount`: add up `charge`, apart from the payments.",
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
      const sources = incoming ? [] : context.program.charges;
      const charges = (await Promise.all(sources.map((list) => list(wallet, config.decimals)))).flat();
      const entries = [...found, ...charges].sort(oldestFirst);
      const file = args.text("output");
      if (file !== undefined) {
        const text = args.flag("csv") ? paymentsCsv(entries) : `${JSON.stringify(entries.map(jsonOf), null, 2)}\n`;
        writePrivate(file, text, false);
        const written = `${counted(found.length, "payment")} and ${counted(charges.length, "charge")}`;
        return {
          json: { file, payments: found.length, charges: charges.length },
          text: [`${written} written to ${file}`],
        };
      }
      if (args.flag("csv")) {
        output.raw(paymentsCsv(entries));
        return undefined;
      }
      return {
        json: entries.map(jsonOf),
        text: listed(
          entries.map((entry) => rowOf(entry, config)),
          "no payments",
        ),
      };
    });
  },
};

const jsonOf = (entry: PaymentEntry | ChargeEntry) =>
  entry.kind === "charge"
    ? { ...entry, charge: String(entry.charge) }
    : { ...entry, amount: String(entry.amount), block: entry.block ?? null };

function rowOf(entry: PaymentEntry | ChargeEntry, config: Config): string[] {
  const { id, kind, resource } = entry;
  const of = [id, printable(resource)];
  if (kind === "charge") return [entry.begun, kind, money(entry.charge, config), "", ...of];
  const { begun, settled, direction, amount, state } = entry;
  return [begun || settled, direction, money(amount, config), state, ...of];
}
