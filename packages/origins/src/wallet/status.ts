import type { WalletNote } from "@sotto/wallet";
import type { WireHead } from "../core/head.ts";
import type { Book, BookedSet } from "./book.ts";
import { type Standing, Standings } from "./membership.ts";
import type { OriginsWallet } from "./options.ts";
import type { SetKey, StoppedRecord } from "./records.ts";
import { type SpendState, spentBy, stateOf } from "./spends.ts";

/** The newest head that the wallet took. */
export interface HeadStatus {
  /** Counts the heads of the set from 0. */
  readonly number: number;
  /** Unix time, seconds. */
  readonly time: number;
  /** How old it is, ms. */
  readonly ageMs: number;
  /** Number of the block that it covers. */
  readonly block: number;
  /** Number of leaves in the set. */
  readonly members: number;
  /** Number of claims in its log. */
  readonly claims: number;
  /** As its curator signed it. */
  readonly signed: WireHead;
}

/** A set that the wallet follows, and the standing of its notes. */
export interface FollowedStatus extends SetKey {
  readonly url: string;
  readonly mirrors: readonly string[];
  /** Undefined before the first one. */
  readonly head: HeadStatus | undefined;
  /** How many notes could be the one whose origin is shown: see `Origins.crowd`. */
  readonly crowd: number;
  /** Least crowd without which nothing is shown. */
  readonly minimumCrowd: number;
  /** Removed leaves of a head that waits for the owner's consent; undefined if none does. */
  readonly removal: number | undefined;
  /** Why the wallet follows the curator no longer, and the heads that convict it. */
  readonly stopped: StoppedRecord | undefined;
  /** What failed at the last sync of this process; undefined if nothing did. */
  readonly problem: unknown;
  /** The wallet's unspent notes. */
  readonly notes: readonly { readonly note: WalletNote; readonly standing: Standing }[];
  /** Number of the wallet's spends by how far their claims are. */
  readonly spends: Readonly<Record<SpendState, number>>;
}

export function statusOf(
  wallet: OriginsWallet,
  book: Book,
  set: BookedSet,
  crowd: number,
  problem: unknown,
): FollowedStatus {
  const { record, view } = set;
  const { curator, name, url, mirrors, minimumCrowd, asked, stopped } = record;
  const standings = new Standings(wallet, book);
  const unspent = wallet.notes().filter(({ state }) => state !== "spent" && state !== "spending");
  const spends: Record<SpendState, number> = {
    ...{ confirmations: 0, outside: 0, earlier: 0, due: 0, done: 0, refused: 0, late: 0 },
  };
  for (const spent of spentBy(wallet)) spends[stateOf(book, set, spent)] += 1;
  return {
    ...{ curator, name, url, mirrors, crowd, minimumCrowd, problem, spends },
    head: view === undefined ? undefined : headOf(set, wallet.now()),
    removal: asked ?? undefined,
    stopped: stopped ?? undefined,
    notes: unspent.map((note) => ({ note, standing: standings.of(note, set) })),
  };
}

function headOf({ record, view }: BookedSet, now: number): HeadStatus {
  const { number, time, block, claims } = view!.signed.head;
  return { number, time, ageMs: now - time * 1000, block, members: view!.members, claims, signed: record.head! };
}
