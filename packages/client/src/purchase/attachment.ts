// What a payment shows beside its proof, such as where the money comes from: a seam for packages that extend the client. A server
// asks for it in its 402; what is shown is recorded before anybody sees it, and a payment never shows anything else.
import type { NoteChoice, StoreValue, WalletNote } from "@sotto/wallet";

/** Something that servers may ask to be shown beside a payment, for the option `attachments` of `wrapFetch`. */
export interface PayingAttachment {
  /** The field of a 402's `payment` that asks for it: 1 to 32 letters, digits and hyphens, with a lower-case letter first. */
  readonly name: string;
  /** The request header that shows it to the server. */
  readonly header: string;
  /**
   * The field of /verify that shows it to the service: letters, and no field of a payment. x402's format shows it in this field to
   * server and service. Default: the service does not see it, and in x402's format nobody does.
   */
  readonly field?: string | undefined;
  /**
   * Milliseconds that a purchase waits for a note that `choose` allows, also beyond `fundsTimeoutMs`; `choose` may end the wait earlier. At
   * least 0. Default: 0.
   */
  readonly waitMs?: number | undefined;
  /**
   * Which notes may pay. Called before a note is chosen, and again while the wallet waits for one. Its error ends the purchase, and
   * nothing is paid.
   * @returns undefined if any note may pay
   */
  choose?(asked: unknown, wish: NoteWish): Promise<NoteChoice | undefined> | NoteChoice | undefined;
  /**
   * What to show beside a payment. Called once for each payment, before its proof leaves the process. Its error ends the purchase, and
   * nothing is paid.
   * @returns printable ASCII, at most 4,096 characters; undefined shows nothing
   */
  show(asked: unknown, payment: AttachedPayment): Promise<string | undefined>;
  /**
   * Makes ready what `show` will show beside the next payment. Called while nobody waits, each time the client looks after a payment that
   * it prepared (`prepare` of `wrapFetch`), so it does nothing if it is ready. Its errors are ignored.
   * @param note the note that the prepared payment spends
   */
  prepare?(asked: unknown, note: WalletNote): Promise<void>;
}

/** A payment whose note is not chosen yet. */
export interface NoteWish {
  /** How long the purchase has waited for a note, ms. */
  readonly waitedMs: number;
}

/** A payment that was proved, and that nobody has seen. */
export interface AttachedPayment {
  /** The note that it spends. */
  readonly note: WalletNote;
  /** Nullifier of that note, a field element. */
  readonly nullifier: bigint;
  /** Aborts the purchase. */
  readonly signal: AbortSignal | undefined;
}

/** What a 402 asks to be shown beside a payment, as it is journaled. */
export interface AttachmentRecord {
  readonly name: string;
  readonly header: string;
  /** Its field of /verify; absent if the service does not see it. */
  readonly field?: string | undefined;
  /** The field of the last 402; undefined if that asks for nothing, and then nothing is shown. */
  readonly asked?: StoreValue | undefined;
  /** What is shown with each payment of the purchase, by its id in the wallet; "" for nothing. It never changes. */
  readonly shown: Readonly<Record<string, string>>;
}
