import { isLimitHost, limitHost, MAX_LIMITED_HOSTS } from "@sotto/client";
import { trimPasted } from "@sotto/protocol";
import type { Command } from "../command.ts";
import { amountFields, listed, money } from "../format.ts";
import { type Arguments, toAmount } from "../frame/arguments.ts";
import { usage } from "../frame/errors.ts";
import {
  AGENT_TOOLS,
  type Config,
  isAgentTool,
  LIMITS,
  readConfig,
  type WalletLimits,
  writeConfig,
} from "../home/config.ts";

/** The command-line option for each limit. */
const OPTIONS = {
  perRequest: "max",
  perHost: "max-host",
  perHour: "max-hour",
  perDay: "max-day",
  approveAbove: "approve-above",
} as const satisfies Record<(typeof LIMITS)[number], string>;

export const limits: Command = {
  name: "limits",
  summary: "Shows and sets what this wallet may spend.",
  positionals: [],
  options: {
    max: { value: "AMOUNT", help: "maximum for one request" },
    "max-host": {
      value: "[HOST=]AMOUNT",
      multiple: true,
      help: "maximum for one host in a day (UTC): for every host, or for HOST instead; may be given more than once",
    },
    "max-tool": {
      value: "TOOL=AMOUNT",
      multiple: true,
      help: `maximum for one tool of an agent in a day (UTC): ${AGENT_TOOLS.join(" or ")}; may be given more than once`,
    },
    "max-hour": { value: "AMOUNT", help: "maximum for an hour (UTC)" },
    "max-day": { value: "AMOUNT", help: "maximum for a day (UTC)" },
    "approve-above": { value: "AMOUNT", help: "an agent asks a person before it pays more than this; 0: always" },
    none: { help: "remove the limits that are not given" },
  },
  details: [
    "The limits apply to `sotto pay`, to `sotto request` and to agents (`sotto-mcp`), in addition to a command's options.",
    "A limit that you give replaces the previous one; the others do not change. For one host or tool, 0 allows nothing, and",
    "HOST=none or TOOL=none removes its limit.",
    "  sotto limits --max-host 1 --max-host api.example=0.5 --max-tool pay_phone=0",
  ],
  async run({ args, home }) {
    const config = readConfig(home);
    const given = givenLimits(args, config);
    const kept = args.flag("none") ? {} : config.limits;
    const after: WalletLimits = {
      ...kept,
      ...given.single,
      hosts: merged(kept.hosts, given.hosts),
      tools: merged(kept.tools, given.tools),
    };
    const count = Object.keys(after.hosts ?? {}).length;
    if (count > MAX_LIMITED_HOSTS) throw usage(`--max-host can name at most ${MAX_LIMITED_HOSTS} hosts`);
    const changed = Object.keys(given.single).length + given.hosts.size + given.tools.size > 0;
    if (args.flag("none") || changed) writeConfig(home, { ...config, limits: after }, true);
    const fieldsOf = (amounts: Readonly<Record<string, bigint>> = {}) =>
      Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amountFields(amount, config)]));
    const rowsOf = (option: string, amounts: Readonly<Record<string, bigint>> = {}) =>
      Object.entries(amounts).map(([name, amount]) => [`${option} ${name}`, money(amount, config)]);
    const shown = LIMITS.map((name) => ({ name, option: OPTIONS[name], amount: after[name] }));
    return {
      json: {
        ...Object.fromEntries(
          shown.map(({ name, amount }) => [name, amount === undefined ? null : amountFields(amount, config)]),
        ),
        hosts: fieldsOf(after.hosts),
        tools: fieldsOf(after.tools),
      },
      text: listed(
        [
          ...shown.flatMap(({ option, amount }) => (amount === undefined ? [] : [[option, money(amount, config)]])),
          ...rowsOf("max-host", after.hosts),
          ...rowsOf("max-tool", after.tools),
        ],
        "no limits",
      ),
    };
  },
};

/** Limits by name; null removes one. */
type Changes = Map<string, bigint | null>;

/** @throws CliError USAGE */
function givenLimits(args: Arguments, { decimals }: Config) {
  const single: WalletLimits = {};
  for (const name of LIMITS) {
    if (name === "perHost") continue;
    const option = OPTIONS[name];
    const always = name === "approveAbove" && args.text(option) === "0";
    const amount = always ? 0n : args.amount(option, decimals);
    if (amount !== undefined) single[name] = amount;
  }
  const hosts: Changes = new Map();
  for (const text of args.texts("max-host")) {
    const [host, amount] = namedAmount(text);
    if (host === undefined) {
      if (single.perHost !== undefined) throw usage("--max-host for every host is given twice");
      single.perHost = toAmount(amount, "--max-host", decimals);
    } else add(hosts, hostOf(host), amount, "--max-host", decimals);
  }
  const tools: Changes = new Map();
  for (const text of args.texts("max-tool")) {
    const [tool = "", amount] = namedAmount(text);
    if (!isAgentTool(tool)) throw usage(`--max-tool must be TOOL=AMOUNT, and TOOL ${AGENT_TOOLS.join(" or ")}`);
    add(tools, tool, amount, "--max-tool", decimals);
  }
  return { single, hosts, tools };
}

/** Splits `NAME=AMOUNT`; the name is undefined in `AMOUNT`. */
function namedAmount(text: string): [name: string | undefined, amount: string] {
  const at = text.lastIndexOf("=");
  return at < 0 ? [undefined, text] : [trimPasted(text.slice(0, at)), trimPasted(text.slice(at + 1))];
}

/** @throws CliError USAGE */
function hostOf(text: string): string {
  // `limitHost` would read a URL as a host, and ignore the rest.
  const isBare = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/?#@\\[\]%]+)$/.test(text);
  const host = isBare ? limitHost(text) : "";
  if (!isLimitHost(host))
    throw usage("the HOST of --max-host must be a host name or an address, without scheme, port, path and *");
  return host;
}

function add(changes: Changes, name: string, amount: string, option: string, decimals: number): void {
  if (changes.has(name)) throw usage(`${option} ${name} is given twice`);
  changes.set(name, amount === "none" ? null : amount === "0" ? 0n : toAmount(amount, option, decimals));
}

/** @returns undefined instead of no limits */
function merged(before: Readonly<Record<string, bigint>> = {}, changes: Changes): Record<string, bigint> | undefined {
  const after: Changes = new Map([...Object.entries(before), ...changes]);
  const left = [...after].filter((entry): entry is [string, bigint] => entry[1] !== null);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
