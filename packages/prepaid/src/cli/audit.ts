import { existsSync } from "node:fs";
import { amountFields, CliError, type Command, type Config, listed, money, readConfig, usage } from "@sotto/cli-kit";
import { PrepaidError } from "../client.ts";
import type { Audit, KeyAudit } from "../server/metered/audit.ts";
import { readSchedule } from "./files.ts";

export const prepaidAudit: Command = {
  name: "prepaid audit",
  summary: "Adds up the store of a server's prepaid tokens, and names what does not add up.",
  positionals: [],
  options: {
    store: { value: "STORE", help: "the store of the resource server: sqlite:PATH or postgres://.." },
    schedules: { value: "LIST", help: "all schedules of the server: comma-separated files, signed or not" },
  },
  details: [
    "For each key, no more tokens may have been spent (for exact prices, for metered requests or in swaps) than were signed (sold,",
    "as change or in swaps). If something does not add up, the command names it and ends with exit code 7. It needs no secret.",
    "Run the same version of sotto as the server, because both update an older store. A day after a key was closed, its tokens are",
    "deleted and no longer counted.",
  ],
  async run({ args, home, output }) {
    const config = readConfig(home);
    const url = parseStore(args.required("store"));
    const schedules = args
      .required("schedules")
      .split(",")
      .map((path) => readSchedule(path.trim()));
    const audit = await auditOf(url, schedules);
    const result = { json: jsonOf(audit, config), text: textOf(audit, config) };
    if (audit.problems.length === 0) return result;
    output.result(result);
    throw new PrepaidError("PREPAID_AUDIT_FAILED", `the store does not add up: ${audit.problems.join("; ")}`);
  },
};

/** @throws CliError USAGE, FILE_UNREADABLE */
function parseStore(url: string): string {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined && !/^postgres(ql)?:\/\//.test(url))
    throw usage("--store must be sqlite:PATH or postgres://USER@HOST/DATABASE");
  // Opening a file that does not exist would create it.
  if (path !== undefined && !existsSync(path)) throw new CliError("FILE_UNREADABLE", `${path} does not exist`);
  return url;
}

/** Loads the server's code only now, so that other commands start faster. */
async function auditOf(url: string, schedules: readonly ReturnType<typeof readSchedule>[]): Promise<Audit> {
  const [{ Keyring }, { PrepaidStore }, { auditStore }] = await Promise.all([
    import("../server/keyring.ts"),
    import("../server/store.ts"),
    import("../server/metered/audit.ts"),
  ]);
  const keyring = new Keyring(schedules, undefined);
  const store = await PrepaidStore.open({ url, clock: Date.now, onError: () => undefined });
  try {
    return await auditStore(store, keyring.all);
  } finally {
    await store.end();
  }
}

const SUMS = ["sold", "change", "swappedIn", "redeemed", "metered", "swappedOut", "unspent"] as const;
const REQUESTS = ["charged", "changeSigned", "changeClaimable", "running", "swapped"] as const;

const fieldsOf = <Name extends string>(names: readonly Name[], sums: Readonly<Record<Name, bigint>>, config: Config) =>
  Object.fromEntries(names.map((name) => [name, amountFields(sums[name], config)]));

const jsonOf = (audit: Audit, config: Config) => ({
  keys: audit.keys.map((key) => ({
    key: key.key,
    epoch: key.epoch,
    value: amountFields(key.value, config),
    ...fieldsOf(SUMS, key, config),
  })),
  ...fieldsOf(REQUESTS, audit, config),
  problems: audit.problems,
});

function textOf(audit: Audit, config: Config): string[] {
  const row = (key: KeyAudit) => [
    key.epoch,
    money(key.value, config),
    `signed ${money(key.sold + key.change + key.swappedIn, config)}`,
    `spent ${money(key.redeemed + key.metered + key.swappedOut, config)}`,
    `unspent ${money(key.unspent, config)}`,
  ];
  return [
    ...listed(audit.keys.map(row), "no tokens"),
    `metered requests: charged ${money(audit.charged, config)}, change signed ${money(audit.changeSigned, config)}, ` +
      `claimable ${money(audit.changeClaimable, config)}, running ${money(audit.running, config)}`,
    `swaps: ${money(audit.swapped, config)}`,
    ...(audit.problems.length === 0 ? ["everything adds up"] : audit.problems.map((problem) => `problem: ${problem}`)),
  ];
}
