import type { Command } from "../command.ts";
import { amountFields, listed, money } from "../format.ts";
import { LIMITS, readConfig, type WalletLimits, writeConfig } from "../home/config.ts";

/** The command-line option for each limit. */
const OPTIONS = {
  perRequest: "max",
  perHost: "max-host",
  perDay: "max-day",
  approveAbove: "approve-above",
} as const satisfies Record<keyof WalletLimits, string>;

export const limits: Command = {
  name: "limits",
  summary: "Shows and sets what this wallet may spend.",
  positionals: [],
  options: {
    max: { value: "AMOUNT", help: "maximum for one request" },
    "max-host": { value: "AMOUNT", help: "maximum for one host in a day (UTC)" },
    "max-day": { value: "AMOUNT", help: "maximum for a day (UTC)" },
    "approve-above": { value: "AMOUNT", help: "an agent asks a person before it pays more than this; 0: always" },
    none: { help: "remove the limits that are not given" },
  },
  details: [
    "The limits apply to `sotto pay`, to `sotto request` and to agents (`sotto-mcp`), in addition to a command's options.",
    "A limit that you give replaces the previous one; the others do not change.",
  ],
  async run({ args, home }) {
    const config = readConfig(home);
    const given: WalletLimits = {};
    for (const name of LIMITS) {
      const option = OPTIONS[name];
      const always = name === "approveAbove" && args.text(option) === "0";
      const amount = always ? 0n : args.amount(option, config.decimals);
      if (amount !== undefined) given[name] = amount;
    }
    const kept = args.flag("none") ? {} : config.limits;
    const after: WalletLimits = { ...kept, ...given };
    if (args.flag("none") || Object.keys(given).length > 0) writeConfig(home, { ...config, limits: after }, true);
    const shown = LIMITS.map((name) => ({ name, option: OPTIONS[name], amount: after[name] }));
    return {
      json: Object.fromEntries(
        shown.map(({ name, amount }) => [name, amount === undefined ? null : amountFields(amount, config)]),
      ),
      text: listed(
        shown.flatMap(({ option, amount }) => (amount === undefined ? [] : [[option, money(amount, config)]])),
        "no limits",
      ),
    };
  },
};
