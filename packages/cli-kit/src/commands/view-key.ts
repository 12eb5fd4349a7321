import { describeMonths, formatViewingKeys } from "@sotto/protocol";
import { type ViewingKeysOptions, viewingKeysOf } from "@sotto/wallet";
import type { Command, Context } from "../command.ts";
import type { OptionSpecs } from "../frame/arguments.ts";
import { usage } from "../frame/errors.ts";
import type { Result } from "../frame/output.ts";
import { readConfig } from "../home/config.ts";
import { assertReplaceable, writePrivate } from "../home/files.ts";
import { recordIssued } from "../home/months.ts";
import { walletKeysOf } from "../home/viewing-keys.ts";
import { MONTH_OPTIONS, monthsName, monthsOf, serverMonths } from "../months.ts";

/** Options that say where a file goes. */
const fileOptions = (name: string): OptionSpecs => ({
  out: {
    value: "FILE",
    help: `where to write the file (mode 0600); - shows the secret on standard output; default: ${name}`,
    short: "o",
  },
  replace: { help: "replace the file if it exists" },
});

export const viewKey: Command = {
  name: "view-key",
  summary: "Writes viewing keys of months, which show income and spend nothing.",
  positionals: [],
  options: {
    ...MONTH_OPTIONS,
    next: { help: "the two months that a resource server needs now; run it once a month" },
    lasting: { help: "the key of the lasting address, which never ends; alone or with months" },
    ...fileOptions("view-key-MONTHS.json, or server-keys.json with --next"),
  },
  details: [
    "The key of a month shows every payment to that month's address, whenever it comes, and nothing of any other address.",
    "It cannot spend and does not show what was spent. You cannot take it back, so give only the months that are needed.",
    "--next writes the keys of this month and the one before. In the last three days of a month, it writes those of this",
    "month and the next one. A server that is stolen then shows two months of payments.",
    "  sotto view-key --month 2026-03",
    "  sotto view-key --from 2026-01 --to 2026-03 --out quarter.json",
    "  sotto view-key --next --replace",
  ],
  async run(context) {
    const { args, home, now } = context;
    const [next, lasting] = [args.flag("next"), args.flag("lasting")];
    const named = monthsOf(args);
    if (next && (named !== undefined || lasting)) throw usage("--next cannot be combined with months or --lasting");
    const months = next ? serverMonths(now()) : (named ?? []);
    if (months.length === 0 && !lasting)
      throw usage("name the months: --month MONTH, --from MONTH --to MONTH, or --next; or use --lasting");
    const parts = ["view-key", ...(lasting ? ["lasting"] : []), ...(months.length === 0 ? [] : [monthsName(months)])];
    const name = next ? "server-keys" : parts.join("-");
    const result = writeKeys(context, `${name}.json`, { months, lasting }, (file) => [
      `viewing keys of ${describeMonths(months, lasting)} written to ${file}`,
      ...(next ? ["Next: give the file to the resource server, in place of the one before."] : []),
    ]);
    if (next && args.text("out") !== "-") recordIssued(home, { serverKeys: months.at(-1) });
    return result;
  },
};

export const auditKey: Command = {
  name: "audit-key",
  summary: "Writes the keys of months for an auditor: income, and change of spending.",
  positionals: [],
  options: { ...MONTH_OPTIONS, ...fileOptions("audit-key-MONTHS.json") },
  details: [
    "The file has the viewing key and the change key of each month. With `sotto audit FILE`, the auditor sees every payment",
    "to the addresses of these months, and when this wallet paid, merged or withdrew in these months, with the change left.",
    "It does not show the amounts of payments that this wallet made, only the change of each. It shows nothing of other",
    "months, no payment to the lasting address, and no deposit. It cannot spend. You cannot take it back.",
    "  sotto audit-key --from 2026-01 --to 2026-03",
  ],
  async run(context) {
    const months = monthsOf(context.args);
    if (months === undefined) throw usage("name the months: --month MONTH, or --from MONTH --to MONTH");
    return writeKeys(context, `audit-key-${monthsName(months)}.json`, { months, change: true }, (file) => [
      `audit keys of ${describeMonths(months)} written to ${file}`,
      "Next: give the file to the auditor. The command is: sotto audit FILE",
    ]);
  },
};

/**
 * Writes keys to the file of --out, or to standard output if that is `-`.
 * @param name the file's name without --out
 * @param written the lines that say so
 */
function writeKeys(
  context: Context,
  name: string,
  selection: ViewingKeysOptions,
  written: (file: string) => readonly string[],
): Result {
  const { args, home } = context;
  const [file, replace] = [args.text("out") ?? name, args.flag("replace")];
  const text = formatViewingKeys(viewingKeysOf(walletKeysOf(context), selection), readConfig(home));
  if (file === "-") return { json: JSON.parse(text), text: [text] };
  assertReplaceable(file, replace);
  writePrivate(file, `${text}\n`, replace);
  const { months = [], lasting = false } = selection;
  return { json: { file, months, lasting }, text: written(file) };
}
