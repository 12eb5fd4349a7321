// Keys of prepaid tokens for a merchant of this checkout, whose account is at hand. Merchants use `sotto prepaid keys`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import {
  encodePrepaidKeyFile,
  encodeSignedSchedule,
  epochOf,
  generatePrepaidKey,
  laterEpoch,
  MAX_PREPAID_EPOCHS,
  type PrepaidSchedule,
  scheduleTypedData,
  type WirePrepaidKeyFile,
  type WireSignedSchedule,
} from "@sotto/prepaid";
import { parseAddress } from "@sotto/protocol";
import type { Wallet } from "ethers";

/** An account that signs typed data. */
export type TypedDataSigner = Pick<Wallet, "address" | "signTypedData">;

/** What the payment method `prepaid` of a resource server needs. */
export interface PrepaidFiles {
  readonly keys: WirePrepaidKeyFile;
  readonly schedules: readonly WireSignedSchedule[];
}

/**
 * Generates the keys of some months, and signs their schedule.
 * @param epochs 1 to 12 months @param firstEpoch default: this month
 */
export async function createPrepaidKeys(
  account: TypedDataSigner,
  terms: Pick<PrepaidSchedule, "chainId" | "pool" | "origin" | "values">,
  epochs = 2,
  firstEpoch = epochOf(Date.now()),
): Promise<PrepaidFiles> {
  const { origin, values } = terms;
  const months = Array.from({ length: epochs }, (_, i) => i);
  const cells = months.flatMap((month) => values.map((value) => ({ epoch: laterEpoch(firstEpoch, month), value })));
  const made = await Promise.all(cells.map(async (cell) => ({ ...cell, ...(await generatePrepaidKey()) })));
  const rows = months.map((row) => made.slice(row * values.length, (row + 1) * values.length).map(({ key }) => key));
  const wallet = parseAddress(account.address);
  const schedule: PrepaidSchedule = { ...terms, wallet, firstEpoch, keys: rows };
  const { domain, types, message } = scheduleTypedData(schedule);
  const signature = await account.signTypedData(domain, types, message);
  const keys = made.map(({ epoch, value, privateKey }) => ({ epoch, value, privateKey }));
  return { keys: encodePrepaidKeyFile({ origin, keys }), schedules: [encodeSignedSchedule({ schedule, signature })] };
}

/**
 * The keys in a file, for a server that is started again and again. Makes new ones if there is no file, if it is for
 * another pool or origin, or if its last month has ended.
 */
export async function keptPrepaidKeys(
  file: string,
  account: TypedDataSigner,
  terms: Pick<PrepaidSchedule, "chainId" | "pool" | "origin" | "values">,
): Promise<PrepaidFiles> {
  const isCurrent = (kept: PrepaidFiles) => hasCurrentKeys(kept, terms);
  return keptJson(file, isCurrent, () => createPrepaidKeys(account, terms, MAX_PREPAID_EPOCHS));
}

/** Whether these are keys of this month for this pool and origin. */
export function hasCurrentKeys(
  { schedules }: PrepaidFiles,
  terms: Pick<PrepaidSchedule, "chainId" | "pool" | "origin">,
): boolean {
  const { schedule } = schedules[0]!;
  return (
    schedule.pool === terms.pool &&
    schedule.chainId === Number(terms.chainId) &&
    schedule.origin === terms.origin &&
    epochOf(Date.now()) <= laterEpoch(schedule.firstEpoch, schedule.keys.length - 1)
  );
}

/** The secrets in a file, or new ones if there is no file or if they are not usable any more. */
export async function keptJson<Secrets>(
  file: string,
  isUsable: (kept: Secrets) => boolean,
  create: () => Promise<Secrets>,
): Promise<Secrets> {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Secrets) : undefined;
  if (kept !== undefined && isUsable(kept)) return kept;
  const made = await create();
  writeFileSync(file, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  return made;
}
