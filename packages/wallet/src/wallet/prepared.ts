/**
 * Payments that are proved before their resource is known, for a known recipient, amount and bounds. docs/protocol.md
 * ("Prepared payments") says why that is sound. Anyone who has a prepared payment can pay its recipient, so it exists
 * in the prover's memory only, is used once, and is discarded as soon as it is outdated.
 */

import type { PreparedProof } from "@sotto/groth16";
import type { PaymentInputs } from "@sotto/protocol";
import type { FoundNote } from "../scan/notes.ts";
import type { PoolSync } from "../scan/sync.ts";
import type { NoteChoice } from "./apart.ts";
import type { Journal } from "./journal.ts";
import type { CheckedTerms } from "./payment-request.ts";
import { isUnseen } from "./shown.ts";
import type { WalletNote } from "./state.ts";

/** A payment that a wallet has prepared. The next payment with the same terms uses it. */
export interface PreparedTerms {
  /** Leaf index of the note that it spends. */
  readonly note: number;
  /**
   * Whether a payment with these terms would use it now, as of the last scan.
   * @param choice which notes the payment may spend. Default: any
   */
  usable(choice?: NoteChoice): boolean;
  /** Wipes it. */
  discard(): void;
}

/** Maximum number of prepared payments of a wallet; another one replaces the oldest. */
export const MAX_PREPARED = 4;
/** Maximum seconds between the slot of a prepared payment's root and the payment: an older root would be a fingerprint. */
export const MAX_SLOT_AGE_SECONDS = 240;

/** A prepared payment that was taken for one payment. */
export interface TakenPayment {
  readonly note: FoundNote;
  /** With 0 in place of the resource. */
  readonly inputs: PaymentInputs;
  readonly proof: PreparedProof;
  readonly range: ProvedRange;
}

export interface ProvedRange {
  readonly proof: string[];
  readonly publicSignals: string[];
}

/** A prepared payment, and what it depends on. */
export interface PreparedState extends TakenPayment {
  readonly terms: string;
  /** The tree's size and root after the append that it is proved on. */
  readonly size: number;
  readonly root: bigint;
  /** Seconds. */
  readonly slot: number;
  readonly set: string;
  /** When the recipient's address ends, ms; undefined if it does not. */
  readonly before: number | undefined;
}

/** The part of a wallet that decides whether a prepared payment is outdated. */
export interface PreparedContext {
  readonly options: {
    readonly clock: () => number;
    readonly prover: { readonly artifacts: { readonly set: string } } | undefined;
  };
  readonly sync: Pick<PoolSync, "ledger" | "confirmed">;
  readonly journal: Journal;
  readonly closing: AbortController;
  notes(): WalletNote[];
}

/** The prepared payments of a wallet. */
export class PreparedPayments {
  readonly #core: PreparedContext;
  readonly #states = new Set<PreparedState>();
  /** Nullifiers of the notes that payments are being prepared from. */
  readonly busy = new Set<FoundNote["nullifier"]>();

  constructor(core: PreparedContext) {
    this.#core = core;
  }

  /** Discards the prepared payments that are outdated. */
  sweep(): void {
    if (this.#states.size === 0) return;
    const notes = new Map(this.#core.notes().map((note) => [note.leafIndex, note]));
    for (const state of [...this.#states])
      if (!this.#isCurrent(state, notes.get(state.note.leafIndex))) this.#discard(state);
  }

  discardAll(): void {
    for (const state of [...this.#states]) this.#discard(state);
  }

  /**
   * Takes the prepared payment with exactly these terms, so that no other payment can use it. The caller journals the
   * payment, and then finishes or discards it.
   * @param leafIndex the note to pay from; default: any
   * @param isChosen whether the payment may spend the note; default: it may
   */
  take(
    checked: CheckedTerms,
    leafIndex: number | undefined,
    isChosen: (note: FoundNote) => boolean = () => true,
  ): TakenPayment | undefined {
    this.sweep();
    const terms = termsText(checked);
    const audience = { shieldedAddress: checked.recipient.shieldedAddress, service: checked.service };
    const found = [...this.#states].find(
      ({ terms: own, note }) =>
        own === terms &&
        (leafIndex === undefined || note.leafIndex === leafIndex) &&
        isUnseen(this.#core.journal, note, audience) &&
        isChosen(note),
    );
    if (found !== undefined) this.#states.delete(found);
    return found;
  }

  /** Whether a prepared payment, or one that is being prepared, spends this note. */
  uses({ nullifier }: FoundNote): boolean {
    return this.busy.has(nullifier) || [...this.#states].some(({ note }) => note.nullifier === nullifier);
  }

  /**
   * Adds one, and discards the oldest if there are too many.
   * @param isChosen whether a payment with this choice may spend its note
   */
  add(state: PreparedState, isChosen: (choice: NoteChoice) => boolean): PreparedTerms {
    for (const oldest of [...this.#states].slice(0, Math.max(0, this.#states.size - MAX_PREPARED + 1)))
      this.#discard(oldest);
    this.#states.add(state);
    // The chain may have changed while it was proved.
    this.sweep();
    return {
      note: state.note.leafIndex,
      usable: (choice = {}) => {
        this.sweep();
        return this.#states.has(state) && isChosen(choice);
      },
      discard: () => this.#discard(state),
    };
  }

  #discard(state: PreparedState): void {
    // A state that was taken belongs to the payment that took it.
    if (this.#states.delete(state)) state.proof.discard();
  }

  /**
   * Whether its note is spendable, its root on the chain, its slot recent, its keys the pool's and its address payable. The
   * root commits to the note, so it cannot be another one at the same index.
   */
  #isCurrent({ size, root, slot, set, before }: PreparedState, now: WalletNote | undefined): boolean {
    const { options, sync } = this.#core;
    if (before !== undefined && options.clock() >= before) return false;
    if (this.#core.closing.signal.aborted || now?.state !== "spendable") return false;
    const append = sync.ledger.appendAt(sync.confirmed?.number ?? -1);
    const known = sync.ledger.appends.findLast((each) => each.size === size);
    if (append === undefined || known?.root !== root || known.size > append.size) return false;
    const time = Math.max(options.clock() / 1000, sync.confirmed?.timestamp ?? 0);
    return time <= slot + MAX_SLOT_AGE_SECONDS && options.prover?.artifacts.set === set;
  }
}

export function termsText({ recipient, service, amount, lowerBound, upperBound }: CheckedTerms): string {
  const { wallet, shieldedAddress } = recipient;
  return JSON.stringify([wallet, shieldedAddress, service, ...[amount, lowerBound, upperBound].map(String)]);
}
