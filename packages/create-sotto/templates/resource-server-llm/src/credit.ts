// Keys that sign tokens and change, keys that sign receipts, and prices that the owner signed. The folder credit/ has a file for
// each three months. The files are secret: they make tokens and receipts, but cannot spend what the server earns.
// While owner.json is there, a start in the last of these months adds the next ones.
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  encodePrepaidKeyFile,
  encodeReceiptKeyFile,
  encodeSignedSchedule,
  encodeSignedTerms,
  epochOf,
  generatePrepaidKey,
  laterEpoch,
  type MeteredRouteRule,
  type MeteredTerms,
  meteredTermsTypedData,
  meteredValues,
  type PrepaidSchedule,
  receiptKeyOf,
  scheduleTypedData,
  type WirePrepaidKeyFile,
  type WireReceiptKeyFile,
  type WireSignedMeteredTerms,
  type WireSignedSchedule,
} from "@sotto/prepaid";
import { parseAddress } from "@sotto/protocol";
import { Owner, type Pool, writeOnce } from "./owner.ts";

const MONTHS = 3;

interface CreditFile {
  readonly keys: WirePrepaidKeyFile;
  readonly schedule: WireSignedSchedule;
  readonly receiptKeys: WireReceiptKeyFile;
  readonly terms: WireSignedMeteredTerms;
}

/** Where the tokens are spent. */
export interface Place {
  readonly deployment: Pool;
  readonly origin: string;
  readonly route: MeteredRouteRule;
}

/** What the methods of the paywall need. */
export interface Credit {
  readonly tokens: { readonly keys: WirePrepaidKeyFile; readonly schedules: readonly WireSignedSchedule[] };
  readonly terms: { readonly terms: readonly WireSignedMeteredTerms[]; readonly receiptKeys: WireReceiptKeyFile };
}

export async function openCredit(folder: string, place: Place, now: () => number = Date.now): Promise<Credit> {
  const { origin } = place;
  const path = join(folder, "credit");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const owner = new Owner(join(folder, "owner.json"), place.deployment);
  const month = epochOf(now());
  const last = lastMonth(readFiles(path, place, month));
  if ((last === undefined || month >= last) && owner.isHere()) {
    const first = last === undefined || last < month ? month : laterEpoch(last, 1);
    // The whole origin: with http and https, a host has two.
    const name = origin.replaceAll(/[^\w.-]+/g, "_");
    const file = join(path, `${place.deployment.chainId}-${place.deployment.pool}-${name}-${first}.json`);
    if (!existsSync(file)) {
      console.log(`Creating the keys of ${MONTHS} months, from ${first}.`);
      writeOnce(file, JSON.stringify(await createFile(owner, place, first)), 0o600);
    }
  }
  const files = readFiles(path, place, month);
  const until = lastMonth(files);
  if (until === undefined || until < month)
    throw new Error(`${path} has no keys of ${month}: put owner.json into ${folder}, start again, and remove it`);
  console.log(`Keys and prices until ${until}: start again in that month, with owner.json in ${folder}.`);
  return {
    tokens: {
      keys: { version: 1, origin, keys: files.flatMap(({ keys }) => keys.keys) },
      schedules: files.map(({ schedule }) => schedule),
    },
    terms: {
      terms: files.map(({ terms }) => terms),
      receiptKeys: { version: 1, origin, keys: files.flatMap(({ receiptKeys }) => receiptKeys.keys) },
    },
  };
}

const lastMonthOf = ({ schedule: { schedule } }: CreditFile): string =>
  laterEpoch(schedule.firstEpoch, schedule.keys.length - 1);

const lastMonth = (files: readonly CreditFile[]): string | undefined => files.map(lastMonthOf).sort().at(-1);

/** The files of this place whose tokens are accepted: until the month after their own. */
function readFiles(path: string, { deployment, origin }: Place, month: string): readonly CreditFile[] {
  return readdirSync(path)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(path, name), "utf8")) as CreditFile)
    .filter((file) => {
      const { schedule } = file.schedule;
      const isHere = schedule.pool === deployment.pool && schedule.chainId === Number(deployment.chainId);
      return isHere && schedule.origin === origin && lastMonthOf(file) >= laterEpoch(month, -1);
    });
}

/** Creates the keys and signs the prices of the months from the first one. */
async function createFile(owner: Owner, { origin, route }: Place, firstEpoch: string): Promise<CreditFile> {
  const { pool, account } = owner.read();
  const merchant = { ...pool, wallet: parseAddress(account.address), origin };
  const epochs = Array.from({ length: MONTHS }, (_, i) => laterEpoch(firstEpoch, i));
  const values = meteredValues(route.rule);
  const rows = await Promise.all(
    epochs.map((epoch) =>
      Promise.all(values.map(async (value) => ({ epoch, value, ...(await generatePrepaidKey()) }))),
    ),
  );
  const schedule: PrepaidSchedule = {
    ...merchant,
    firstEpoch,
    values,
    keys: rows.map((row) => row.map(({ key }) => key)),
  };
  const secrets = epochs.map((epoch) => ({ epoch, secret: crypto.getRandomValues(new Uint8Array(32)) }));
  const receiptKeys = secrets.map(({ secret }) => receiptKeyOf(secret));
  const terms: MeteredTerms = { ...merchant, firstEpoch, receiptKeys, routes: [route] };
  const sign = ({ domain, types, message }: ReturnType<typeof scheduleTypedData>) =>
    account.signTypedData(domain, types, message);
  const keys = rows.flat().map(({ epoch, value, privateKey }) => ({ epoch, value, privateKey }));
  return {
    keys: encodePrepaidKeyFile({ origin, keys }),
    schedule: encodeSignedSchedule({ schedule, signature: await sign(scheduleTypedData(schedule)) }),
    receiptKeys: encodeReceiptKeyFile({ origin, keys: secrets }),
    terms: encodeSignedTerms({ terms, signature: await sign(meteredTermsTypedData(terms)) }),
  };
}
