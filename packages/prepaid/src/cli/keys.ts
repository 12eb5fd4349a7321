import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  ACCOUNT_OPTIONS,
  type Arguments,
  amountFields,
  CliError,
  type Command,
  type Config,
  type Context,
  money,
  named,
  readAccount,
  readConfig,
  usage,
} from "@sotto/cli-kit";
import { type Address, parseAddress, parseAmount } from "@sotto/protocol";
import {
  assertPrepaidValue,
  epochOf,
  laterEpoch,
  MAX_PREPAID_EPOCHS,
  MAX_PREPAID_VALUES,
  type PrepaidKeyFile,
  type PrepaidPrivateKey,
  type PrepaidSchedule,
  prepaidChallengeDigest,
} from "../index.ts";
import { readKeys, readReceiptKeys, readSchedule, writeKeys, writeReceiptKeys, writeSchedule } from "./files.ts";
import { generatePrivateKeys, publicKeyOf } from "./key-pairs.ts";

/** How far ahead keys can begin, in epochs. */
const MAX_AHEAD = 24;

export const prepaidKeys: Command = {
  name: "prepaid keys",
  summary: "Creates the keys of prepaid tokens for an origin, and the schedule to sign.",
  positionals: [],
  options: {
    origin: { value: "ORIGIN", help: "origin at which the tokens are spent, such as https://data.example" },
    values: {
      value: "LIST",
      help: "prices in base units, comma-separated: 1, 2 or 5 times a power of ten; at most 12",
    },
    from: { value: "MONTH", help: "the first month (UTC), such as 2026-11; default: this one, or the one after DIR's" },
    epochs: { value: "N", help: `number of months, 1 to ${MAX_PREPAID_EPOCHS}; default ${MAX_PREPAID_EPOCHS}` },
    extend: { value: "DIR", help: "add to the keys in this folder: more values, or later months" },
    out: {
      value: "DIR",
      help: "the folder for keys.json (secret, mode 0600) and schedule.json; never replaces a file",
    },
    wallet: { value: "ADDRESS", help: "the wallet that signs the schedule; default: the account's" },
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "A token pays for one request whose price is its value. Tokens are sold in their key's month and accepted until the",
    "end of the next one. Nothing is sent. Next, sign the schedule with `sotto prepaid sign`.",
    "Never create a second key for a month and value that a signed schedule already has: payers and mirrors refuse it.",
    "Use --extend instead: its keys.json also has the keys in DIR that are still needed, and its schedule.json has only",
    "the new ones. The server then gets the new keys.json and both signed schedules. A receipts.json in DIR is copied, because a",
    "month has one receipt key too: from then on, use only the new folder.",
    "If it is interrupted, the same command finishes it.",
  ],
  async run(context) {
    const { args, home, output, signal } = context;
    const config = readConfig(home);
    const extended = args.text("extend");
    const before = extended === undefined ? undefined : readKeyFolder(extended, config);
    const receipts = extended === undefined ? undefined : readReceiptKeys(join(extended, "receipts.json"));
    const plan = planOf(args, before);
    const wallet = await walletOf(context, config, before);
    const folder = args.required("out");
    const [keysPath, schedulePath] = [join(folder, "keys.json"), join(folder, "schedule.json")];
    const receiptsPath = join(folder, "receipts.json");
    if (existsSync(schedulePath)) throw new CliError("FILE_EXISTS", `${schedulePath} exists; choose another --out`);
    const cells = plan.epochs.flatMap((epoch) => plan.values.map((value) => ({ epoch, value })));
    const ended = laterEpoch(epochOf(Date.now()), -2);
    const old = (before?.keys.keys ?? []).filter(({ epoch }) => epoch > ended);
    let file = readKeys(keysPath);
    if (file === undefined) {
      const progress = (done: number) => output.progress(`generating keys: ${done} of ${cells.length}`);
      progress(0);
      const privateKeys = await generatePrivateKeys(cells.length, progress, signal);
      file = {
        origin: plan.origin,
        keys: [...old, ...cells.map((cell, i) => ({ ...cell, privateKey: privateKeys[i]! }))],
      };
      makeFolder(folder);
      writeKeys(keysPath, file);
    }
    if (receipts !== undefined && readReceiptKeys(receiptsPath) === undefined)
      writeReceiptKeys(receiptsPath, receipts, false);
    const schedule = scheduleOf(file, plan, { wallet, chainId: config.chainId, pool: config.pool }, keysPath);
    writeSchedule(schedulePath, schedule);
    return {
      json: {
        keys: keysPath,
        schedule: schedulePath,
        wallet,
        origin: plan.origin,
        firstEpoch: plan.epochs[0],
        epochs: plan.epochs.length,
        values: plan.values.map((value) => amountFields(value, config)),
      },
      text: [
        `${cells.length} keys in ${keysPath} (secret: only the resource server needs it)`,
        `schedule in ${schedulePath}: ${plan.epochs[0]} to ${plan.epochs.at(-1)}, for ${plan.origin}, wallet ${wallet}`,
        `values ${plan.values.map((value) => money(value, config)).join(", ")}`,
        `Next: \`sotto prepaid sign --schedule ${schedulePath}\``,
      ],
    };
  },
};

interface Plan {
  readonly origin: string;
  readonly epochs: readonly string[];
  /** Base units, ascending. */
  readonly values: readonly bigint[];
}

/** The keys of a folder, and the schedule that was made with them. */
interface KeyFolder {
  readonly keys: PrepaidKeyFile;
  readonly schedule: PrepaidSchedule;
}

/** @throws CliError FILE_UNREADABLE, KEY_FILE_UNSAFE, REFUSED */
export function readKeyFolder(folder: string, config: Config): KeyFolder {
  const path = join(folder, "keys.json");
  const keys = readKeys(path);
  if (keys === undefined) throw new CliError("FILE_UNREADABLE", `${path} does not exist`);
  const schedule = readSchedule(join(folder, "schedule.json"));
  if (schedule.chainId !== config.chainId || schedule.pool !== config.pool || schedule.origin !== keys.origin)
    throw new CliError("REFUSED", `the schedule in ${folder} is for another chain, pool or origin`);
  return { keys, schedule };
}

/** @throws CliError USAGE */
function planOf(args: Arguments, before: KeyFolder | undefined): Plan {
  const origin = args.text("origin") ?? before?.keys.origin ?? args.required("origin");
  const now = epochOf(Date.now());
  const known = before?.keys.keys ?? [];
  const current = known.filter(({ epoch }) => epoch >= now).map(({ value }) => value);
  const values = parseValues(args.text("values")) ?? ascending([...new Set(current)]);
  if (values.length === 0) throw usage("--values is missing");
  const from = named("--from", () => laterEpoch(args.text("from") ?? nextEpoch(known, values, now), 0));
  if (from < now || from > laterEpoch(now, MAX_AHEAD))
    throw usage(`--from is ${from}, but keys must begin between ${now} and ${laterEpoch(now, MAX_AHEAD)}`);
  const count = args.integer("epochs", 1, MAX_PREPAID_EPOCHS) ?? MAX_PREPAID_EPOCHS;
  const epochs = Array.from({ length: count }, (_, i) => laterEpoch(from, i));
  named("--origin", () => prepaidChallengeDigest(origin));
  if (before !== undefined && origin !== before.keys.origin)
    throw usage(`--origin is ${origin}, but the keys in --extend are for ${before.keys.origin}`);
  const twice = known.find(({ epoch, value }) => epochs.includes(epoch) && values.includes(value));
  if (twice !== undefined)
    throw usage(
      `there is a key for the value ${twice.value} in ${twice.epoch}, and there cannot be another: choose other --values or a later --from`,
    );
  const all = new Set([...values, ...current]);
  if (all.size > MAX_PREPAID_VALUES)
    throw usage(`an origin can have ${MAX_PREPAID_VALUES} values, but these are ${all.size} with those of --extend`);
  return { origin, epochs, values };
}

const ascending = (values: readonly bigint[]): bigint[] => values.toSorted((a, b) => (a < b ? -1 : 1));

/** The first epoch from which none of the values has a key. @throws CliError USAGE */
function nextEpoch(known: readonly PrepaidPrivateKey[], values: readonly bigint[], now: string): string {
  const next = values.map((value) => {
    const epochs = known.filter((key) => key.value === value).map(({ epoch }) => laterEpoch(epoch, 1));
    return [now, ...epochs].sort().at(-1)!;
  });
  if (new Set(next).size > 1)
    throw usage("--from is missing: the keys of these values end in different months; extend them one after the other");
  return next[0]!;
}

function parseValues(list: string | undefined): readonly bigint[] | undefined {
  if (list === undefined) return undefined;
  const texts = list.split(",");
  if (texts.length > MAX_PREPAID_VALUES)
    throw usage(`--values has ${texts.length} values, but at most ${MAX_PREPAID_VALUES} are allowed`);
  const values = named("--values", () =>
    texts.map((text) => assertPrepaidValue(parseAmount(text.trim(), "each value"))),
  );
  if (new Set(values).size !== values.length) throw usage("--values has the same value twice");
  return ascending(values);
}

/** @throws CliError KEY_MISSING, REFUSED */
async function walletOf(
  { args, environment }: Context,
  { chainId }: Config,
  before: KeyFolder | undefined,
): Promise<Address> {
  const wallet =
    args.address("wallet") ??
    before?.schedule.wallet ??
    (await readAccount(args.text("keystore"), environment, chainId)).address;
  const parsed = parseAddress(wallet, "wallet");
  if (before !== undefined && parsed !== before.schedule.wallet)
    throw new CliError("REFUSED", `the keys in --extend are signed by ${before.schedule.wallet}, not by ${parsed}`);
  return parsed;
}

/** @throws CliError FILE_UNREADABLE */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CliError("FILE_UNREADABLE", `cannot create ${folder}: ${code}`, {}, { cause });
  }
}

/**
 * The schedule of the planned keys, which are in the file.
 * @throws CliError FILE_EXISTS if the file was left by another plan
 */
function scheduleOf(
  file: PrepaidKeyFile,
  { origin, epochs, values }: Plan,
  place: Pick<PrepaidSchedule, "wallet" | "chainId" | "pool">,
  path: string,
): PrepaidSchedule {
  const keys = epochs.map((epoch) =>
    values.map((value) => {
      const found = file.keys.find((key) => key.epoch === epoch && key.value === value);
      if (found === undefined || file.origin !== origin)
        throw new CliError(
          "FILE_EXISTS",
          `${path} exists and has no key for ${origin}, ${value} in ${epoch}: repeat the command that wrote it, or choose another --out`,
        );
      return publicKeyOf(found.privateKey, `the key for ${value} in ${epoch} in ${path}`);
    }),
  );
  return { ...place, origin, firstEpoch: epochs[0]!, values, keys };
}
