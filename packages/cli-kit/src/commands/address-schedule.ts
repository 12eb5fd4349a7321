import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { phoneNumberOf, signAddresses } from "@sotto/client";
import {
  BINDING_LEAD_SECONDS,
  describeMonths,
  MAX_ADDRESSES_LENGTH,
  MAX_SCHEDULE_MONTHS,
  MAX_SEQUENCE_LEAD_SECONDS,
  type Month,
  monthAddressesJson,
  monthAt,
  parseMonthAddresses,
  SottoError,
  scheduleDigest,
  scheduleMonths,
} from "@sotto/protocol";
import type { Command, Context } from "../command.ts";
import { CliError, usage } from "../frame/errors.ts";
import { ACCOUNT_OPTIONS, readAccount } from "../home/account.ts";
import { readConfig } from "../home/config.ts";
import { assertReplaceable, readText, writePrivate } from "../home/files.ts";
import { readIssued, recordIssued } from "../home/months.ts";
import { walletKeysOf } from "../home/viewing-keys.ts";
import { laterText } from "../months.ts";

const FILE = "addresses.json";
const MONTHS = 12;

export const addressSchedule: Command = {
  name: "address schedule",
  summary: "Signs the addresses of the next months, for a resource server's config.",
  positionals: [],
  options: {
    months: { value: "N", help: `number of months, 1 to ${MAX_SCHEDULE_MONTHS}; default ${MONTHS}` },
    first: { value: "MONTH", help: "the first month (UTC), such as 2026-12; default: this one" },
    out: { value: "FILE", help: `where to write the file, which is public; default ${FILE}`, short: "o" },
    replace: { help: "replace the file; servers and clients then follow the new one" },
    phone: { value: "PHONE", help: "sign the addresses for this phone number; needs --service" },
    service: { value: "URL", help: "base URL of the phone registry that has the number" },
    ...ACCOUNT_OPTIONS,
  },
  details: [
    "The account signs one address for each month and one schedule that lists them all. Clients pay each address in its",
    "month only. The server changes over by itself, so sign the next schedule before the last month begins. Nothing is sent.",
    "A later schedule has a higher sequence. Servers and clients follow the highest one and refuse a lower one.",
  ],
  async run(context) {
    const { args, environment, home, output, now } = context;
    const config = readConfig(home);
    const months = args.integer("months", 1, MAX_SCHEDULE_MONTHS) ?? MONTHS;
    const firstMonth = args.month("first");
    const registration = registrationOf(context);
    const [file, replace] = [args.text("out") ?? FILE, args.flag("replace")];
    if (file === "-") throw usage("--out - is not possible: name the file to write");
    assertReplaceable(file, replace);
    const account = await readAccount(args.text("keystore"), environment, config.chainId);
    const keys = walletKeysOf(context);
    const { chainId, pool } = config;
    const sequence = nextSequence(context, file);
    output.progress(`signing ${months + 1} times`);
    const wallet = {
      pool: { chainId, pool },
      addressOfMonth: (month: Month) => keys.ofMonth(month).shieldedAddress,
      now,
    };
    const addresses = await signAddresses(wallet, account, {
      months,
      firstMonth,
      sequence,
      ...registration,
    });
    writePrivate(file, `${JSON.stringify(monthAddressesJson(addresses), null, 2)}\n`, replace);
    const { schedule } = addresses;
    const listed = scheduleMonths(schedule);
    const [first, last] = [listed[0]!, listed.at(-1)!];
    const digest = scheduleDigest(schedule);
    recordIssued(home, {
      schedule: { file: resolve(file), sequence: schedule.sequence, digest, firstMonth: first, lastMonth: last },
    });
    return {
      json: {
        file,
        wallet: schedule.wallet,
        firstMonth: first,
        lastMonth: last,
        months,
        sequence: schedule.sequence,
        digest,
      },
      text: [
        `addresses of ${describeMonths(listed)} written to ${file}`,
        `signed by ${schedule.wallet}`,
        `sequence ${schedule.sequence}`,
        `digest ${digest}`,
        ...(first > monthAt(now()) ? [`warning: ${laterText(first)}`] : []),
        "Next: give the file to the resource server as its recipient.",
        "For a server that shows amounts, run this once a month: `sotto view-key --next`",
      ],
    };
  },
};

/** The phone number that the addresses are signed for, and its registry. @throws CliError USAGE */
function registrationOf({ args }: Context): { phone?: string; service?: string } {
  const [phone, service] = [args.text("phone"), args.url("service")];
  if (phone === undefined && service === undefined) return {};
  if (phone === undefined || service === undefined)
    throw usage("--phone and --service belong together: the number, and the registry that has it");
  return { phone: phoneNumberOf(phone), service };
}

/**
 * A sequence that is higher than that of the schedule before, which this wallet recorded or which the file has.
 * @returns undefined for the default, the time of signing
 * @throws CliError FILE_UNREADABLE if the file to replace holds no addresses
 */
function nextSequence({ home, now }: Context, file: string): number | undefined {
  const recorded = readIssued(home).schedule?.sequence ?? 0;
  const last = Math.max(recorded, existsSync(file) ? readSequence(file) : 0);
  const seconds = Math.floor(now() / 1000);
  // A sequence far ahead of the clock was signed while a clock was wrong. No client accepts such a schedule, so it need not be
  // outdone.
  const isFuture = last > seconds + MAX_SEQUENCE_LEAD_SECONDS - BINDING_LEAD_SECONDS;
  return last < seconds || isFuture ? undefined : last + 1;
}

function readSequence(file: string): number {
  const text = readText(file, MAX_ADDRESSES_LENGTH);
  try {
    return parseMonthAddresses(JSON.parse(text)).schedule.sequence;
  } catch (cause) {
    if (!(cause instanceof SottoError || cause instanceof SyntaxError)) throw cause;
    throw new CliError(
      "FILE_UNREADABLE",
      `${file} is not a file of \`sotto address schedule\`, so it is not replaced; choose another --out`,
      {},
      { cause },
    );
  }
}
