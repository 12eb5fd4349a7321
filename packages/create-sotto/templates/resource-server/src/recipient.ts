// The recipient has an address for each month. The first start writes three files into the folder of the data:
//   owner.json         spends what the server earns: move it to a safe place
//   addresses/*.json   the addresses of twelve months, signed by the owner; they are public
//   viewing-keys.json  reads the payments of this month and the one before
// While owner.json is there, the server renews the others. Later its owner delivers them: the output of `sotto view-key --next`
// at the end of each month, and that of `sotto address schedule` once a year.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  addMonths,
  describeKeys,
  type Month,
  type MonthAddresses,
  monthAt,
  parseMonthAddresses,
  parseViewingKeys,
  scheduleMonths,
  type ViewingKeys,
} from "@sotto/protocol";
import type { MonthRecipient, PaywallEvent } from "@sotto/resource-server";
import { Owner, type Pool } from "./owner.ts";

export async function openRecipient(
  folder: string,
  deployment: Pool,
  now: () => number = Date.now,
): Promise<MonthRecipient> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = new Owner(join(folder, "owner.json"), deployment);
  const addresses = await openAddresses(join(folder, "addresses"), owner, deployment, now);
  const viewingKeys = viewingKeysOf(join(folder, "viewing-keys.json"), owner, deployment, now);
  const keys = viewingKeys();
  const last = addresses
    .flatMap(({ schedule }) => scheduleMonths(schedule))
    .sort()
    .at(-1);
  console.log(`Addresses until ${last}; viewing keys: ${keys === undefined ? "none" : describeKeys(keys)}.`);
  return { addresses, viewingKeys };
}

/** Earlier addresses stay, because payments were made to them; the server is paid at the newest. */
async function openAddresses(
  folder: string,
  owner: Owner,
  { pool }: Pool,
  now: () => number,
): Promise<readonly MonthAddresses[]> {
  mkdirSync(folder, { recursive: true });
  const read = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => parseMonthAddresses(JSON.parse(readFileSync(join(folder, name), "utf8"))));
  const all = read();
  if (all.length === 0 && !owner.isHere()) owner.create();

  const month = monthAt(now());
  const ofPool = all.filter(({ schedule }) => schedule.pool === pool);
  const months = ofPool.flatMap(({ schedule }) => scheduleMonths(schedule));
  if (owner.isHere() && !months.includes(addMonths(month, 1))) {
    await owner.writeAddresses(join(folder, `${month}.json`), month, now);
    return read().filter(({ schedule }) => schedule.pool === pool);
  }
  if (ofPool.length > 0) return ofPool;
  throw new Error(`${folder} has none for the pool ${pool}: write them with "sotto address schedule"`);
}

/** Reads the file when a month begins. Without a key, payments count, and their amounts are unknown. */
function viewingKeysOf(path: string, owner: Owner, deployment: Pool, now: () => number) {
  let keys: ViewingKeys | undefined;
  let warned: Month | undefined;
  return (): ViewingKeys | undefined => {
    const month = monthAt(now());
    const isComplete = () => keys?.keys.some((key) => key.month === month);
    if (isComplete()) return keys;
    if (owner.isHere()) owner.writeViewingKeys(path, month);
    if (existsSync(path)) keys = parseViewingKeys(readFileSync(path, "utf8"), deployment);
    if (!isComplete() && warned !== month)
      console.warn(`${path} has no key of ${month}: write it with "sotto view-key --next"`);
    warned = month;
    return keys;
  };
}

/** Tells the operator in time. */
export function onEvent(event: PaywallEvent): void {
  if (event.event === "addresses")
    console.warn(`The addresses end with ${event.month}: add new ones with "sotto address schedule", and restart.`);
}
