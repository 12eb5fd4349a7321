// The standing of a note in a set, and its reason.
import type { Wallet, WalletNote } from "@sotto/wallet";
import type { Book, BookedSet } from "./book.ts";
import { setKeyOf } from "./records.ts";
import { isMadeBy, type Spent, spentBy, stateOf } from "./spends.ts";

/**
 * Seconds for which a note that is not in a set may still join: a curator judges deposits after a delay, by a person perhaps, and a
 * payer claims soon after its payment. Until then the wallet keeps it apart from all other notes.
 */
export const OPEN_SECONDS = { deposit: 604_800, payment: 86_400 } as const;

/** The standing of a note in a set: in it, on its way into it, or outside. */
export type Standing =
  | { readonly in: "set" }
  | {
      readonly in: "waiting";
      /**
       * confirmations: its block has too few. head: it is on its way, and the next head decides. claim: the wallet has not sent the
       * claims of the spend that made it. judgement: the curator judges the deposit. sender: the payer may send a claim.
       */
      readonly why: "confirmations" | "head" | "claim" | "judgement" | "sender";
    }
  | {
      readonly in: "outside";
      /**
       * refused: the curator has not accepted the deposit. unclaimed: its payer showed no origin, or no head has come since. spent: the
       * wallet's own spend that made it has no claims, because of a note from outside or because they came too late.
       */
      readonly why: "refused" | "unclaimed" | "spent";
    };

/** Why a note waits, or is outside. */
export type StandingReason = Extract<Standing, { readonly why: string }>["why"];

/** What each reason means, for people. */
export const STANDING_REASONS: Readonly<Record<StandingReason, string>> = {
  confirmations: "its block needs more confirmations",
  head: "the curator's next head decides",
  claim: "the claim of the payment that made it is not sent yet",
  judgement: "the curator has not judged the deposit yet",
  sender: "its payer has not shown an origin yet",
  refused: "the curator has not accepted the deposit",
  unclaimed: "its payer showed no origin",
  spent: "the payment that made it has no origin",
};

/** The reason of a standing; undefined for a note in the set. */
export const reasonOf = (standing: Standing): StandingReason | undefined =>
  "why" in standing ? standing.why : undefined;

/** The standings of a wallet's notes as of the last scan. */
export class Standings {
  readonly #wallet: Pick<Wallet, "confirmed">;
  readonly #book: Book;
  /** By transaction. */
  readonly #spends: Map<string, readonly Spent[]>;

  constructor(wallet: Pick<Wallet, "confirmed" | "spends">, book: Book) {
    this.#wallet = wallet;
    this.#book = book;
    this.#spends = new Map();
    for (const spent of spentBy(wallet)) {
      const { transactionHash } = spent;
      this.#spends.set(transactionHash, [...(this.#spends.get(transactionHash) ?? []), spent]);
    }
  }

  of(note: WalletNote, set: BookedSet): Standing {
    const { view } = set;
    if (view?.has(note.leafIndex) === true) return { in: "set" };
    if (note.blockNumber > (this.#wallet.confirmed?.number ?? -1)) return { in: "waiting", why: "confirmations" };
    const own = this.#spends.get(note.transactionHash)?.find((spent) => isMadeBy(note, spent));
    if (own !== undefined) return this.#ofOwn(own, set);
    const isCovered = note.leafIndex < (view?.signed.head.leaves ?? 0);
    if (!isCovered) return { in: "waiting", why: "head" };
    const seconds = OPEN_SECONDS[note.origin === "deposit" ? "deposit" : "payment"];
    const isOpen = view!.signed.head.time < note.timestamp + seconds;
    if (note.origin === "deposit")
      return isOpen ? { in: "waiting", why: "judgement" } : { in: "outside", why: "refused" };
    return isOpen ? { in: "waiting", why: "sender" } : { in: "outside", why: "unclaimed" };
  }

  #ofOwn(spent: Spent, set: BookedSet): Standing {
    const state = stateOf(this.#book, set, spent);
    if (state === "done") return { in: "waiting", why: "head" };
    if (state === "due") return { in: "waiting", why: "claim" };
    return { in: "outside", why: "spent" };
  }

  /**
   * The group of a note: notes of one group have the same standing in every set, so spending them together loses nothing. A note that
   * is on its way is a group of its own, because it may or may not arrive. Notes of one deposit are judged together.
   */
  group(note: WalletNote, sets: readonly BookedSet[]): string {
    return sets
      .map((set) => {
        const standing = this.of(note, set);
        const single = note.origin === "deposit" ? note.transactionHash : String(note.leafIndex);
        const text = standing.in === "waiting" ? `waiting ${single}` : standing.in;
        return `${setKeyOf(set.record)} ${text}`;
      })
      .join(" ");
  }
}
