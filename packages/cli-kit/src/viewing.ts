import { readBlock } from "@sotto/chain";
import {
  assertViewingKeys,
  describeKeys,
  type Month,
  monthsOfKeys,
  payableMonths,
  type ViewingKeys,
} from "@sotto/protocol";
import { type Chain, type Received, type Store, ViewingWallet, viewingKeysOf } from "@sotto/wallet";
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

/** The keys of all addresses of this wallet that may be paid: the lasting one, and those of months. */
async function ownKeys(context: Context, chain: Chain, config: Config): Promise<ViewingKeys> {
  const { timestamp } = await readBlock(chain, config.deploymentBlock);
  const months = payableMonths(1000 * timestamp, context.now());
  return assertViewingKeys(viewingKeysOf(walletKeysOf(context), { months, lasting: true }));
}

/** Opens a viewing wallet of the config's pool. */
export async function openViewing(chain: Chain, config: Config, keys: ViewingKeys, store: Store): Promise<Viewing> {
  const { chainId, pool, token, deploymentBlock, finality } = config;
  const wallet = await ViewingWallet.open({ chain, chainId, pool, token, deploymentBlock, finality, keys, store });
  return { wallet, keys };
}

/**
 * Opens a viewing wallet for the duration of `action`, with a store of its own in the home folder, so that one process can watch
 * while another pays. Keys from a file have a store of their own, because a store forgets what was found with keys that are no
 * longer there.
 * @param file the file of the keys; default: SOTTO_VIEWING_KEY, else all of this wallet's
 */
export async function withViewing<T>(
  context: Context,
  { chain, config, file }: { readonly chain: Chain; readonly config: Config; readonly file: string | undefined },
  action: (viewing: Viewing) => Promise<T>,
): Promise<T> {
  const { home } = context;
  const given = givenViewingKeys(context, file);
  const keys = given ?? (await ownKeys(context, chain, config));
  const owner = `${keys.ownerTag}${given === undefined ? "" : " given"}`;
  const name = `viewing-${keccak256(toUtf8Bytes(owner)).slice(2, 18)}`;
  const release = lockFile(home.path(`${name}.lock`));
  const store = new SqliteStore(home.path(`${name}.sqlite`));
  try {
    return await action(await openViewing(chain, config, keys, store));
  } finally {
    await store.close();
    release();
  }
}

/** Scans new blocks. */
export async function scanViewing({ output, signal }: Context, wallet: ViewingWallet): Promise<void> {
  const onProgress = ({ block, height }: { block: number; height: number }) =>
    output.progress(`reading block ${block} of ${height}`);
  await wallet.scan({ onProgress, signal });
}

/** Finds payments that settled outside the month of their address. */
export async function searchViewing({ output, signal }: Context, wallet: ViewingWallet): Promise<void> {
  const onProgress = ({ block, to }: { block: number; to: number }) =>
    output.progress(`searching other months: block ${block} of ${to}`);
  await wallet.search({ onProgress, signal });
}

/** The payments to the addresses of the keys. A deposit names no address, so it is no income. */
export const incomeOf = (received: readonly Received[]): Received[] =>
  received.filter(({ origin }) => origin === "payment");

/** The sum of amounts. */
export const sum = (received: readonly Received[]): bigint =>
  received.reduce((total, { amount }) => total + amount, 0n);

/** Names the addresses of keys in a sentence. */
export const addressesText = (keys: ViewingKeys): string =>
  `${monthsOfKeys(keys).length === 0 ? "" : "the addresses of "}${describeKeys(keys)}`;

/** Names an address in a table. */
export const addressName = (month: Month | undefined): string => month ?? "lasting address";

/** Which keys a report covers, and up to which block: the last one that is final. */
export const coveredBy = ({ wallet, keys }: Viewing, { finality }: Config) => ({
  months: monthsOfKeys(keys),
  lasting: keys.keys.some(({ month }) => month === undefined),
  toBlock: Math.max(0, wallet.height - finality),
});

/** Groups what belongs to months: what belongs to the lasting address, then each month in order. */
export function byMonth<T extends { readonly month: Month | undefined }>(
  all: readonly T[],
): { readonly month: Month | undefined; readonly items: readonly T[] }[] {
  const months = [...new Set(all.map(({ month }) => month))].sort((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1));
  return months.map((month) => ({ month, items: all.filter((one) => one.month === month) }));
}

/** The end of a report: what it covers, and what it cannot know. */
export const reportEnd = (covered: readonly string[], unknown: readonly string[]): string[] => [
  ...wrap(covered.join(" ")),
  "It cannot know:",
  ...unknown.flatMap((line) => wrap(line, 78).map((part, i) => `${i === 0 ? "-" : " "} ${part}`)),
];
