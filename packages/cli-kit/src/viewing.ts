import { readBlock } from "@sotto/chain";
import {
  addMonths,
  describeKeys,
  MAX_SCHEDULE_MONTHS,
  type Month,
  monthAt,
  monthRange,
  monthsNear,
  type ViewingKeys,
} from "@sotto/protocol";
import { type Chain, type Received, type Spent, type Store, ViewingWallet, viewingKeysOf } from "@sotto/wallet";
import { lockFile } from "@sotto/wallet/node";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { keccak256, toUtf8Bytes } from "ethers";
import type { Context } from "./command.ts";
import { wrap } from "./help.ts";
import type { Config } from "./home/config.ts";
import { givenViewingKeys, walletKeysOf } from "./home/viewing-keys.ts";

/** A wallet that reads income, and the keys that it reads with. */
export interface Viewing {
  readonly wallet: ViewingWallet;
  readonly keys: ViewingKeys;
}

/**
 * The keys of a file or of SOTTO_VIEWING_KEY; else all of this wallet's: of the lasting address, and of every month from the
 * pool's deployment to the end of the longest schedule.
 */
async function keysOf(context: Context, chain: Chain, config: Config, file: string | undefined): Promise<ViewingKeys> {
  const given = givenViewingKeys(context, file);
  if (given !== undefined) return given;
  const { timestamp } = await readBlock(chain, config.deploymentBlock);
  const now = monthAt(context.now());
  const [first = now] = monthsNear(1000 * timestamp);
  // Ahead of now, because --watch may run for long, and the addresses of a schedule may be known already.
  const months = monthRange(first, addMonths(now, MAX_SCHEDULE_MONTHS));
  return viewingKeysOf(walletKeysOf(context), { months, lasting: true });
}

/** Opens a viewing wallet of the config's pool. */
export async function openViewing(chain: Chain, config: Config, keys: ViewingKeys, store: Store): Promise<Viewing> {
  const { chainId, pool, token, deploymentBlock, finality } = config;
  const wallet = await ViewingWallet.open({ chain, chainId, pool, token, deploymentBlock, finality, keys, store });
  return { wallet, keys };
}

/**
 * Opens a viewing wallet for the duration of `action`. Each owner has a store of its own in the home folder, so that one process
 * can watch while another pays.
 * @param file see `keysOf`
 */
export async function withViewing<T>(
  context: Context,
  { chain, config, file }: { readonly chain: Chain; readonly config: Config; readonly file: string | undefined },
  action: (viewing: Viewing) => Promise<T>,
): Promise<T> {
  const { home } = context;
  const keys = await keysOf(context, chain, config, file);
  const name = `viewing-${keccak256(toUtf8Bytes(String(keys.ownerTag))).slice(2, 18)}`;
  const release = lockFile(home.path(`${name}.lock`));
  const store = new SqliteStore(home.path(`${name}.sqlite`));
  try {
    return await action(await openViewing(chain, config, keys, store));
  } finally {
    await store.close();
    release();
  }
}

/** Scans new blocks. @returns the newest block before the scan, which the scan includes */
export async function scanViewing({ output, signal }: Context, chain: Chain, wallet: ViewingWallet): Promise<number> {
  const { number } = await chain.newest();
  const onProgress = ({ block, height }: { block: number; height: number }) =>
    output.progress(`reading block ${block} of ${height}`);
  await wallet.scan({ onProgress, signal });
  return number;
}

/** Finds payments to addresses of months that settled in other months. */
export async function searchViewing({ output, signal }: Context, wallet: ViewingWallet): Promise<void> {
  const onProgress = ({ block, to }: { block: number; to: number }) =>
    output.progress(`searching other months: block ${block} of ${to}`);
  await wallet.search({ onProgress, signal });
}

/** The months of keys, in order. */
export const monthsOfKeys = ({ keys }: ViewingKeys): Month[] =>
  keys.flatMap(({ month }) => (month === undefined ? [] : [month]));

/**
 * The wallet's income at the addresses of the keys. A deposit names no address: it counts for the lasting one or, without its key,
 * for the month of its block.
 */
export function incomeOf({ wallet, keys }: Viewing): Received[] {
  const months = new Set<Month | undefined>(keys.keys.map(({ month }) => month));
  return wallet
    .received()
    .map((one) => {
      if (one.origin === "payment" || months.has(undefined)) return one;
      return { ...one, month: monthsNear(1000 * one.timestamp)[0] };
    })
    .filter(({ month }) => months.has(month));
}

/** The wallet's spending that the change keys show. */
export function spendingOf({ wallet, keys }: Viewing): Spent[] {
  const months = new Set(keys.keys.filter(({ changeKey }) => changeKey !== undefined).map(({ month }) => month));
  return wallet.spent().filter(({ month }) => months.has(month));
}

/** Names the addresses of keys in a sentence. */
export function addressesText({ ownerTag, keys }: ViewingKeys): string {
  const ofMonths = keys.filter(({ month }) => month !== undefined);
  return [
    ...(ofMonths.length === 0 ? [] : [`the addresses of ${describeKeys({ ownerTag, keys: ofMonths })}`]),
    ...(ofMonths.length === keys.length ? [] : ["the lasting address"]),
  ].join(" and ");
}

/** Sorts after every month. */
const LAST = "~";

/** Groups what belongs to months: each month in order, then what belongs to the lasting address. */
export function byMonth<T extends { readonly month: Month | undefined }>(
  all: readonly T[],
): { readonly month: Month | undefined; readonly items: readonly T[] }[] {
  const months = [...new Set(all.map(({ month }) => month))].sort((a, b) => ((a ?? LAST) < (b ?? LAST) ? -1 : 1));
  return months.map((month) => ({ month, items: all.filter((one) => one.month === month) }));
}

/** The end of a report: what it covers, and what it cannot know. */
export const reportEnd = (covered: readonly string[], unknown: readonly string[]): string[] => [
  ...wrap(covered.join(" ")),
  "It cannot know:",
  ...unknown.flatMap((line) => wrap(line, 78).map((part, i) => `${i === 0 ? "-" : " "} ${part}`)),
];
