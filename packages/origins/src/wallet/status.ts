import type { WalletNote } from "@sotto/wallet";
import type { WireHead } from "../core/head.ts";
import type { Book, BookedSet } from "./book.ts";
import { reasonOf, STANDING_REASONS, type Standing, type StandingReason, Standings } from "./membership.ts";
import type { OriginsWallet } from "./options.ts";
import type { ProblemRecord, SetKey, StoppedRecord } from "./records.ts";
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
  /** What failed at the last sync; undefined if nothing did. */
  readonly problem: ProblemRecord | undefined;
  /** The wallet's unspent notes. */
  readonly notes: readonly { readonly note: WalletNote; readonly standing: Standing }[];
  /** Number of the wallet's spends by how far their claims are. */
  readonly spends: Readonly<Record<SpendState, number>>;
}

/** A wallet's unspent money by its standing in a set, base units. */
export interface StandingTotals {
  /** Money whose origin can be shown. */
  readonly inSet: bigint;
  /** Money that may still join the set. */
  readonly waiting: bigint;
  /** Money that is spent without an origin. */
  readonly outside: bigint;
  /** Why money waits or is outside, one for each reason. */
  readonly reasons: readonly StandingTotal[];
}

/** The unspent money that waits or is outside for one reason. */
export interface StandingTotal {
  readonly why: StandingReason;
  readonly in: "waiting" | "outside";
  /** Base units. */
  readonly amount: bigint;
  /** Number of notes, 1 or more. */
  readonly notes: number;
}

const REASONS = Object.keys(STANDING_REASONS) as StandingReason[];

/** Sums up the notes of a set's status. */
export function totalsOf({ notes }: Pick<FollowedStatus, "notes">): StandingTotals {
  const sum = (some: FollowedStatus["notes"]) => some.reduce((total, { note }) => total + note.amount, 0n);
  const within = (place: Standing["in"]) => sum(notes.filter(({ standing }) => standing.in === place));
  const reasons = REASONS.flatMap((why): StandingTotal[] => {
    const some = notes.filter(({ standing }) => reasonOf(standing) === why);
    const place = some[0]?.standing.in;
    return place === undefined || place === "set" ? [] : [{ why, in: place, amount: sum(some), notes: some.length }];
  });
  return { inSet: within("set"), waiting: within("waiting"), outside: within("outside"), reasons };
}

export function statusOf(wallet: OriginsWallet, book: Book, set: BookedSet, crowd: number): FollowedStatus {
  const { record, view } = set;
  const { curator, name, url, mirrors, minimumCrowd, asked, stopped, problem } = record;
  const standings = new Standings(wallet, book);
  const unspent = wallet.notes().filter(({ state }) => state !== "spent" && state !== "spending");
  const spends: Record<SpendState, number> = {
    ...{ confirmations: 0, outside: 0, earlier: 0, due: 0, done: 0, refused: 0, late: 0 },
  };
  for (const spent of spentBy(wallet)) spends[stateOf(book, set, spent)] += 1;
  return {
    ...{ curator, name, url, mirrors, crowd, minimumCrowd, spends },
    head: view === undefined ? undefined : headOf(set, wallet.now()),
    removal: asked ?? undefined,
    stopped: stopped ?? undefined,
    problem: problem ?? undefined,
    notes: unspent.map((note) => ({ note, standing: standings.of(note, set) })),
  };
}

function headOf({ record, view }: BookedSet, now: number): HeadStatus {
  const { number, time, block, claims } = view!.signed.head;
  return { number, time, ageMs: now - time * 1000, block, members: view!.members, claims, signed: record.head! };
}
