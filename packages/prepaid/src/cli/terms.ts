import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Arguments, CliError, type Command, named, readConfig, usage } from "@sotto/cli-kit";
import { SottoError } from "@sotto/protocol";
import {
  assertMeteredTerms,
  assertMeteredValues,
  epochOf,
  laterEpoch,
  MAX_PREPAID_EPOCHS,
  type MeteredRouteRule,
  type MeteredTerms,
  type PrepaidKeyFile,
  type ReceiptKeyFile,
  type ReceiptSecret,
  receiptKeyOf,
} from "../index.ts";
import { readReceiptKeys, readRoutes, writeReceiptKeys, writeTerms } from "./files.ts";
import { makeFolder, readKeyFolder } from "./keys.ts";

export const prepaidTerms: Command = {
  name: "prepaid terms",
  summary: "Creates the terms of metered routes to sign, and the keys of their receipts.",
  positionals: [],
  options: {
    keys: {
      value: "DIR",
      help: "the folder with keys.json and schedule.json of `sotto prepaid keys`; gets receipts.json",
    },
    routes: { value: "FILE", help: 'JSON with the routes and their rules: { "routes": [{ method, path, rule }] }' },
    from: { value: "MONTH", help: "the first month (UTC), such as 2026-12; default: this one" },
    epochs: { value: "N", help: `number of months, 1 to ${MAX_PREPAID_EPOCHS}; default: as many as have keys` },
    out: {
      value: "DIR",
      help: "the folder for terms.json, which is never replaced",
    },
  },
  details: [
    "A rule has base, units, cap and grain in base units, as the server's price has them. Every value from the grain to the",
    "cap needs a key in each month. Nothing is sent. Next, sign the terms with `sotto prepaid sign --terms`.",
    "Never sign two rules for one route and month: payers compare them. The receipt keys (secret, mode 0600) are beside keys.json;",
    "later terms use them again and add their months, so that a month has one receipt key.",
  ],
  async run({ args, home }) {
    const config = readConfig(home);
    const months = monthsOf(args);
    const [keysFolder, folder] = [args.required("keys"), args.required("out")];
    const [receiptsPath, termsPath] = [join(keysFolder, "receipts.json"), join(folder, "terms.json")];
    if (existsSync(termsPath)) throw new CliError("FILE_EXISTS", `${termsPath} exists; choose another --out`);
    const { keys, schedule } = readKeyFolder(keysFolder, config);
    const { wallet, chainId, pool, origin } = schedule;
    const routesPath = args.required("routes");
    const routes = readRoutes(routesPath);
    const epochs = epochsOf(months, routes, keys);
    const before = readReceiptKeysOf(origin, receiptsPath);
    const lacking = epochs.filter((epoch) => secretOf(before?.keys ?? [], epoch) === undefined);
    const secrets = secretsOf(lacking, before);
    const terms = parseTerms(routesPath, {
      ...{ wallet, chainId, pool, origin, routes },
      firstEpoch: epochs[0]!,
      receiptKeys: epochs.map((epoch) => receiptKeyOf(secretOf(secrets, epoch)!)),
    });
    makeFolder(folder);
    if (lacking.length > 0) writeReceiptKeys(receiptsPath, { origin, keys: secrets }, before !== undefined);
    writeTerms(termsPath, terms);
    return {
      json: { receiptKeys: receiptsPath, terms: termsPath, wallet, origin, epochs, routes: routes.length },
      text: [
        `receipt keys in ${receiptsPath} (secret: only the resource server needs them)`,
        `terms in ${termsPath}: ${epochs[0]} to ${epochs.at(-1)}, for ${origin}, wallet ${wallet}`,
        `Next: \`sotto prepaid sign --terms ${termsPath}\``,
      ],
    };
  },
};

/** What a month lacks for these routes; undefined if it lacks nothing. */
function problemOf(epoch: string, routes: readonly MeteredRouteRule[], { keys }: PrepaidKeyFile): string | undefined {
  const values = keys.filter((key) => key.epoch === epoch).map(({ value }) => value);
  try {
    for (const { rule } of routes) assertMeteredValues(rule, values);
    return undefined;
  } catch (error) {
    if (!(error instanceof SottoError)) throw error;
    return `${epoch}: ${error.message}`;
  }
}

interface Months {
  readonly from: string;
  /** Undefined for as many as have keys. */
  readonly count: number | undefined;
}

/** @throws CliError USAGE */
function monthsOf(args: Arguments): Months {
  const now = epochOf(Date.now());
  const from = named("--from", () => laterEpoch(args.text("from") ?? now, 0));
  if (from < now) throw usage(`--from is ${from}, but the month must not be over; it is ${now} now`);
  return { from, count: args.integer("epochs", 1, MAX_PREPAID_EPOCHS) };
}

/** The months of the terms. @throws CliError USAGE if the first one lacks keys */
function epochsOf(
  { from, count }: Months,
  routes: readonly MeteredRouteRule[],
  keys: PrepaidKeyFile,
): readonly string[] {
  const wanted = Array.from({ length: count ?? MAX_PREPAID_EPOCHS }, (_, i) => laterEpoch(from, i));
  const problems = wanted.map((epoch) => problemOf(epoch, routes, keys));
  const first = problems.findIndex((problem) => problem !== undefined);
  if (first === 0 || (first > 0 && count !== undefined)) throw usage(problems[first]!);
  return first < 0 ? wanted : wanted.slice(0, first);
}

/** Checks the terms before anything is written. @throws CliError FILE_UNREADABLE */
function parseTerms(routesPath: string, terms: MeteredTerms): MeteredTerms {
  try {
    return assertMeteredTerms(terms);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new CliError("FILE_UNREADABLE", `${routesPath}: ${cause.message}`, {}, { cause });
  }
}

/** @returns undefined if the file does not exist @throws CliError REFUSED, KEY_FILE_UNSAFE, FILE_UNREADABLE */
function readReceiptKeysOf(origin: string, path: string): ReceiptKeyFile | undefined {
  const file = readReceiptKeys(path);
  if (file !== undefined && file.origin !== origin)
    throw new CliError("REFUSED", `the receipt keys in ${path} are for ${file.origin}, not for ${origin}`);
  return file;
}

const secretOf = (secrets: readonly ReceiptSecret[], month: string): Uint8Array | undefined =>
  secrets.find(({ epoch }) => epoch === month)?.secret;

/** The keys that stand, without those of ended months, and new ones. */
function secretsOf(lacking: readonly string[], before: ReceiptKeyFile | undefined): readonly ReceiptSecret[] {
  const ended = laterEpoch(epochOf(Date.now()), -2);
  const old = (before?.keys ?? []).filter(({ epoch }) => epoch > ended);
  return [...old, ...lacking.map((epoch) => ({ epoch, secret: new Uint8Array(randomBytes(32)) }))];
}
