// Remembers which payment belongs to which challenge, so that the client never pays twice.

import {
  type AttachmentRecord,
  askedAttachments,
  attach,
  attachedFields,
  chooseNotes,
  longestWait,
  type PayableAddress,
  type PayingAttachment,
} from "@sotto/client";
import { MAX_CLOCK_SKEW_MS, MAX_PAYMENT_AGE_MS, PAYMENT_SIGNAL, type WireBundle } from "@sotto/protocol";
import { termsText, type X402Terms } from "@sotto/protocol/x402";
import { type NoteChoice, type Payment, type StoreValue, type Wallet, WalletError } from "@sotto/wallet";
import { keccak256, toUtf8Bytes } from "ethers";
import { X402SchemeError } from "../errors.ts";

/** The terms of a payment, whose recipient's address is paid only before a time; ms. */
export interface PayableTerms extends X402Terms, Pick<PayableAddress, "before"> {}

/** A payment that was returned to the caller and whose outcome is not known yet. */
interface OpenPayment {
  /** The wallet's id of the payment. */
  readonly id: string;
  /** Hash of the terms without the challenge. */
  readonly terms: string;
  /** The same for the addresses of all months. Absent in records of earlier versions. */
  readonly anyMonth?: string | undefined;
  /** What is asked to be shown beside it, and what it shows. Absent if nothing was asked before it first left. */
  readonly attachments?: readonly AttachmentRecord[] | undefined;
}

/** The payload of a payment: its bundle, and the fields with what it shows. */
export type Payload = WireBundle & Readonly<Record<string, unknown>>;

const hash = (text: string): string => keccak256(toUtf8Bytes(text)).slice(2, 34);
/** The terms with the owner of the address in place of the address. */
function anyMonthText(terms: X402Terms): string {
  const shieldedAddress = String(terms.address.ownerTag);
  return termsText({ ...terms, recipient: { ...terms.recipient, shieldedAddress } });
}

const openKey = (id: string): string => `x402/${id}`;

/** Minimum remaining validity of a proof to be presented, ms: the resource server still has to settle it. */
const MIN_VALIDITY_MS = 60_000;
const POLL_MS = 400;
/** Maximum payments of which this process remembers what they show, beside the store. */
const MAX_SHOWN = 1_000;

/** The nullifier of a payload; undefined if it has none. */
export function nullifierOf(payload: unknown): string | undefined {
  const { publicSignals } = Object(payload) as Partial<WireBundle>;
  const nullifier = Array.isArray(publicSignals) ? publicSignals[PAYMENT_SIGNAL.nullifier] : undefined;
  return typeof nullifier === "string" ? nullifier : undefined;
}

export class Payments {
  readonly #wallet: Wallet;
  readonly #fundsTimeoutMs: number;
  readonly #attachments: readonly PayingAttachment[];
  readonly #pending = new Map<string, Promise<Payload>>();
  /** Ids of payments in use by a request of this process: another request must not present them. */
  readonly #busy = new Set<string>();
  /** Ids of payments that are sent through `trackFetch`, which reads their responses. */
  readonly #tracked = new Set<string>();
  /** Ids by nullifier, and nullifiers by id, of the open payments that this process returned. */
  readonly #ids = new Map<string, string>();
  readonly #nullifiers = new Map<string, string>();
  /** What the last payments that this process returned show, by id: the challenge of a closed one may still come again. */
  readonly #shown = new Map<string, readonly AttachmentRecord[]>();

  /** @param attachments checked */
  constructor(wallet: Wallet, fundsTimeoutMs: number, attachments: readonly PayingAttachment[]) {
    this.#wallet = wallet;
    this.#fundsTimeoutMs = fundsTimeoutMs;
    // The resource server sends the payload to the service, so what the service must not see is not shown.
    this.#attachments = attachments.filter(({ field }) => field !== undefined);
  }

  /**
   * Returns the payment for these terms: the one for the same challenge, or one for the same terms whose response was
   * lost, or a new one.
   * @throws X402SchemeError X402_PAID_TOO_LONG_AGO, X402_PAYMENT_UNDECIDED, X402_FUNDS_TIMED_OUT; WalletError; the errors of attachments
   */
  async obtain(terms: PayableTerms, challenge: string): Promise<Payload> {
    const text = termsText(terms);
    const id = hash(`${challenge} ${text}`);
    const pending = this.#pending.get(id);
    if (pending !== undefined) return pending;
    const created = this.#reuseOrCreate(id, hash(text), terms).finally(() => this.#pending.delete(id));
    this.#pending.set(id, created);
    return created;
  }

  /** The id of an open payment that this process returned. @param nullifier decimal */
  idOf(nullifier: string | undefined): string | undefined {
    return nullifier === undefined ? undefined : this.#ids.get(nullifier);
  }

  /** Marks a payment that is sent through `trackFetch`, which reads its response. */
  track(id: string): void {
    this.#tracked.add(id);
  }

  /** The resource server reports the payment as settled. A tracked payment stays open until its response arrives. */
  async onSettled(id: string): Promise<void> {
    if (!this.#tracked.has(id)) await this.close(id);
  }

  /** Forgets a payment that the resource server accepted, or that can no longer be presented. */
  async close(id: string): Promise<void> {
    this.#busy.delete(id);
    this.#tracked.delete(id);
    this.#ids.delete(this.#nullifiers.get(id) ?? "");
    this.#nullifiers.delete(id);
    await this.#wallet.store.delete(openKey(id));
  }

  /** Releases a payment that got no successful response: the next request with the same terms presents it again. */
  release(id: string): void {
    this.#busy.delete(id);
  }

  async #reuseOrCreate(id: string, termsHash: string, terms: PayableTerms): Promise<Payload> {
    const known = this.#isKnown(id) ? id : await this.#acquireReleased(termsHash);
    const reused =
      known === undefined
        ? undefined
        : await this.#reserving(known, async () => {
            const bundle = await this.#presentAgain(known, terms);
            return bundle && this.#showAgain(known, bundle, terms);
          });
    if (reused === undefined && known === id)
      throw new WalletError(
        "PAYMENT_CLOSED",
        "the payment for this challenge can never settle; request the resource again for a new challenge",
      );
    if (known === undefined) await this.#endEarlierMonths(termsHash, terms);
    return reused ?? this.#reserving(id, () => this.#create(id, termsHash, terms));
  }

  /**
   * Ends the payments for the same resource that went to the address of another month and whose responses were lost: they cannot
   * be presented for this address.
   * @throws X402SchemeError X402_PAID_TOO_LONG_AGO if one has settled, X402_PAYMENT_UNDECIDED if one may still settle
   */
  async #endEarlierMonths(termsHash: string, terms: X402Terms): Promise<void> {
    const anyMonth = hash(anyMonthText(terms));
    for (const { value } of await this.#wallet.store.list("x402/")) {
      const { id, ...open } = value as unknown as OpenPayment;
      if (open.anyMonth !== anyMonth || open.terms === termsHash || this.#busy.has(id)) continue;
      if (this.#isKnown(id)) await this.#assertOver(id);
      await this.close(id);
    }
  }

  async #assertOver(id: string): Promise<void> {
    await this.#wallet.scan();
    const { state, final, validUntil } = this.#wallet.status(id);
    if (state === "settled") {
      await this.close(id);
      throw this.#paidBefore(id);
    }
    if (final) return;
    throw new X402SchemeError(
      "X402_PAYMENT_UNDECIDED",
      "an earlier payment for this resource went to the recipient's address of another month and may still settle, so nothing " +
        `else was paid; repeat the request after ${new Date(validUntil * 1000).toISOString()}`,
      { id, validUntil },
    );
  }

  /** Reserves the payment while it is created and until it is released, so that no other request presents it. */
  async #reserving<B extends Payload | undefined>(id: string, make: () => Promise<B>): Promise<B> {
    this.#busy.add(id);
    try {
      const bundle = await make();
      const nullifier = nullifierOf(bundle);
      if (nullifier === undefined) return bundle;
      this.#ids.set(nullifier, id);
      this.#nullifiers.set(id, nullifier);
      return bundle;
    } catch (error) {
      this.#busy.delete(id);
      throw error;
    }
  }

  #isKnown(id: string): boolean {
    try {
      return this.#wallet.status(id).id === id;
    } catch (error) {
      if (error instanceof WalletError && error.code === "UNKNOWN_PAYMENT") return false;
      throw error;
    }
  }

  /** Reserves a payment for these terms that an earlier process left open or that this process released. */
  async #acquireReleased(termsHash: string): Promise<string | undefined> {
    for (const { value } of await this.#wallet.store.list("x402/")) {
      const open = value as unknown as OpenPayment;
      if (open.terms !== termsHash || this.#busy.has(open.id)) continue;
      if (this.#isKnown(open.id)) {
        this.#busy.add(open.id);
        return open.id;
      }
      // The payment was recorded, but the wallet never started it.
      await this.#wallet.store.delete(openKey(open.id));
    }
    return undefined;
  }

  #paidBefore(id: string): X402SchemeError {
    const { transactionHash: transaction = "" } = this.#wallet.status(id);
    const message = "the payment has settled, but its proof can no longer be presented; the next request pays again";
    return new X402SchemeError("X402_PAID_TOO_LONG_AGO", message, { id, transaction });
  }

  /** Records the payment before it starts: after a crash, an unrecorded payment would be made again. */
  async #create(id: string, termsHash: string, terms: PayableTerms): Promise<Payload> {
    const attachments = askedAttachments(this.#attachments, terms.attachments);
    const open: OpenPayment = {
      ...{ id, terms: termsHash, anyMonth: hash(anyMonthText(terms)) },
      ...(attachments.length > 0 && { attachments }),
    };
    await this.#put(open);
    const { recipient, wallet, amount, resource, service, before } = terms;
    const { shieldedAddress } = recipient;
    const request = { id, recipient: { wallet, shieldedAddress }, amount, resourceUrl: resource, service, before };
    const choose = (waitedMs: number) => chooseNotes(this.#attachments, attachments, { waitedMs });
    const waitMs = longestWait(this.#attachments, attachments);
    const { bundle } = await this.#whenReady((choice) => this.#wallet.pay(request, choice), choose, waitMs);
    return this.#show({ id, open, hasLeft: false }, bundle, attachments);
  }

  #put(open: OpenPayment): Promise<void> {
    return this.#wallet.store.put(openKey(open.id), open as unknown as StoreValue);
  }

  /** The payload of a payment that was begun before: it shows what it showed. */
  async #showAgain(id: string, bundle: WireBundle, terms: PayableTerms): Promise<Payload> {
    const open = (await this.#wallet.store.get(openKey(id)))?.value as OpenPayment | undefined;
    const before = open?.attachments ?? this.#shown.get(id);
    const asked = askedAttachments(this.#attachments, terms.attachments, before);
    const hasLeft = before === undefined || before.some(({ shown }) => shown[id] !== undefined);
    return this.#show({ id, open, hasLeft }, bundle, asked);
  }

  /**
   * Adds what a payment shows to its bundle, and records it first.
   * @param open its record; undefined if it is closed
   */
  async #show(
    { id, open, hasLeft }: { readonly id: string; readonly open: OpenPayment | undefined; readonly hasLeft: boolean },
    bundle: WireBundle,
    asked: readonly AttachmentRecord[],
  ): Promise<Payload> {
    if (asked.length === 0) {
      // It leaves without what was asked of it before: a record of that would let a later request show it.
      if (open?.attachments !== undefined && !hasLeft) {
        const { attachments: _, ...rest } = open;
        await this.#put(rest);
      }
      return { ...bundle };
    }
    const payment = { id, nullifier: BigInt(nullifierOf(bundle)!), hasLeft, signal: undefined };
    const attachments = await attach(this.#wallet, this.#attachments, asked, payment);
    const isRecorded = JSON.stringify(attachments) === JSON.stringify(open?.attachments);
    if (open !== undefined && !isRecorded) await this.#put({ ...open, attachments });
    this.#shown.set(id, attachments);
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MAX_SHOWN) this.#shown.delete(oldest!);
    return { ...attachedFields(attachments, id), ...bundle };
  }

  /**
   * Returns the same proof while it is fresh enough, then another attempt from the same note. At most one of the
   * attempts can settle.
   * @returns undefined if the note is spent and none of the attempts can settle
   */
  async #presentAgain(id: string, { maxTimeoutSeconds }: PayableTerms): Promise<WireBundle | undefined> {
    const proof = this.#wallet.proofOf(id);
    const previous = proof !== undefined && "bundle" in proof ? proof.bundle : undefined;
    const age = this.#wallet.now() - (previous?.timestamp ?? 0);
    const left = this.#wallet.status(id).validUntil * 1000 - this.#wallet.now();
    const maxAge = Math.min(MAX_PAYMENT_AGE_MS, maxTimeoutSeconds * 1000);
    // A proof from a clock that was ahead is refused until its time comes.
    const timely = age >= -MAX_CLOCK_SKEW_MS && age < maxAge - MIN_VALIDITY_MS;
    if (previous !== undefined && timely && left > MIN_VALIDITY_MS) return previous;
    await this.#wallet.scan();
    const { state, final } = this.#wallet.status(id);
    if (state === "settled") {
      // Compared with the chain's time, because a resource may be paid again once its payment is closed.
      if (previous !== undefined && this.#wallet.pastTime() - previous.timestamp < maxAge) return previous;
      await this.close(id);
      throw this.#paidBefore(id);
    }
    try {
      return (await this.#whenReady(() => this.#wallet.payAgain(id))).bundle;
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "PAYMENT_CLOSED" || !final) throw error;
      await this.close(id);
      return undefined;
    }
  }

  /**
   * Retries until a note is spendable: change first has to be appended to the tree.
   * @param choose which notes may pay, after a wait. Default: all
   * @param waitMs how long it waits for notes that attachments exclude now, ms. Default: as for other notes
   */
  async #whenReady(
    make: (choice: NoteChoice) => Promise<Payment>,
    choose: (waitedMs: number) => Promise<NoteChoice> = async () => ({}),
    waitMs = 0,
  ): Promise<Payment> {
    const begun = Date.now();
    for (let isFirst = true; ; isFirst = false) {
      const waitedMs = isFirst ? 0 : Math.max(1, Date.now() - begun);
      const choice = await choose(waitedMs);
      try {
        return await make(choice);
      } catch (cause) {
        // Notes that an attachment excludes now may qualify soon.
        const passes = ["FUNDS_NOT_READY", ...(choice.only === undefined ? [] : ["NOTES_APART"])];
        if (!(cause instanceof WalletError) || !passes.includes(cause.code)) throw cause;
        const timeout = choice.only === undefined ? this.#fundsTimeoutMs : Math.max(this.#fundsTimeoutMs, waitMs);
        // Compared with what the attachments were told, so that they end the wait with an error of their own.
        if (waitedMs >= timeout)
          throw new X402SchemeError(
            "X402_FUNDS_TIMED_OUT",
            `no note became spendable within ${timeout} ms`,
            {},
            { cause },
          );
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}
