// The recipient has an address for each month. The first start writes three files into the folder of the data:
//   owner.json         spends what the server earns: move it to a safe place
//   addresses/*.json   the addresses of twelve months, signed by the owner; they are public
//   viewing-keys.json  reads the payments of this month and the one before
// While owner.json is there, a start renews addresses whose last month begins within 30 days, and the server renews the keys.
// Later its owner delivers them: the output of `sotto view-key --next` at the end of each month, and that of `sotto address schedule` once a year.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  AddressBook,
  addressesDue,
  describeKeys,
  type Month,
  type MonthAddresses,
  monthAt,
  parseMonthAddresses,
  type ViewingKeys,
} from "@sotto/protocol";
import { type MonthRecipient, type PaywallEvent, viewingKeysFile } from "@sotto/resource-server";
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
  console.log(
    `Addresses until ${lastMonth(addresses)}; viewing keys: ${keys === undefined ? "none" : describeKeys(keys)}.`,
  );
  return { addresses, viewingKeys };
}

/** Earlier addresses stay, because payments were made to them; the server is paid at the newest. */
async function openAddresses(
  folder: string,
  owner: Owner,
  { chainId, pool }: Pool,
  now: () => number,
): Promise<readonly MonthAddresses[]> {
  mkdirSync(folder, { recursive: true });
  const read = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => parseMonthAddresses(JSON.parse(readFileSync(join(folder, name), "utf8"))));
  const ofPool = (all: readonly MonthAddresses[]) =>
    all.filter(({ schedule }) => schedule.pool === pool && schedule.chainId === BigInt(chainId));
  const all = read();
  if (all.length === 0) owner.create();

  const found = ofPool(all);
  const isDue = found.length === 0 || now() >= addressesDue(lastMonth(found));
  if (isDue && owner.isHere()) {
    const month = monthAt(now());
    await owner.writeAddresses(join(folder, `${chainId}-${pool}-${month}.json`), month, now);
    return ofPool(read());
  }
  if (found.length > 0) return found;
  throw new Error(
    `${folder} has none for the pool ${pool} on chain ${chainId}: write them with "sotto address schedule"`,
  );
}

/** The last month in which the server is paid. */
const lastMonth = (addresses: readonly MonthAddresses[]): Month => new AddressBook(addresses).listed.at(-1)!.month;

/** Reads the file until it has the key of the month. Without a valid key, payments count, and their amounts are unknown. */
function viewingKeysOf(path: string, owner: Owner, deployment: Pool, now: () => number) {
  const read = viewingKeysFile(path, deployment);
  let keys: ViewingKeys | undefined;
  let warned: Month | undefined;
  return (): ViewingKeys | undefined => {
    const month = monthAt(now());
    const isComplete = () => keys?.keys.some((key) => key.month === month);
    if (isComplete()) return keys;
    try {
      if (owner.isHere()) owner.writeViewingKeys(path, month);
      keys = read();
    } catch {
      // The file is broken, or somebody is still copying it: the keys of before stay, and the next payment reads it again.
    }
    if (!isComplete() && warned !== month) {
      console.warn(`${path} has no valid key of ${month}: write it with "sotto view-key --next"`);
      warned = month;
    }
    return keys;
  };
}

/** Tells the operator in time. */
export function onEvent(event: PaywallEvent): void {
  if (event.event === "addresses")
    console.warn(
      `The addresses end with ${event.month}. If owner.json is in its folder, a restart renews them; ` +
        'otherwise add new ones with "sotto address schedule", and restart.',
    );
}
