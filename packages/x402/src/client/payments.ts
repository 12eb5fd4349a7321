// What was paid for which challenge, so that nothing is paid twice.
import { type Payment, type StoreValue, type Wallet, WalletError } from "@sotto/client";
import type { WireBundle } from "@sotto/protocol";
import { termsText, X402_FRESH_MS, type X402Terms } from "@sotto/protocol/x402";
import { keccak256, toUtf8Bytes } from "ethers";
import { X402SchemeError } from "../errors.ts";

/** A payment that was given out and of which nobody knows yet whether it was taken. */
interface Open {
  /** The wallet's id of it. */
  readonly id: string;
  /** Names the terms, whatever the challenge. */
  readonly terms: string;
  /** ms */
  readonly created: number;
}

const hash = (text: string): string => keccak256(toUtf8Bytes(text)).slice(2, 34);
const openKey = (id: string): string => `x402/${id}`;

/** A proof this close to its end is not worth showing: the seller has to settle it first. */
const LEAST_LEFT_MS = 60_000;
const LOOK_MS = 400;

export class Payments {
  readonly #wallet: Wallet;
  readonly #fundsTimeoutMs: number;
  readonly #making = new Map<string, Promise<WireBundle>>();
  /** Given out by this process, and not known to be lost: another request must not show them too. */
  readonly #busy = new Set<string>();
  /** Whose answers are seen whole, status and all. */
  readonly #tracked = new Set<string>();
  /** Ids by nullifier, of what was given out by this process. */
  readonly #ids = new Map<string, string>();

  constructor(wallet: Wallet, fundsTimeoutMs: number) {
    this.#wallet = wallet;
    this.#fundsTimeoutMs = fundsTimeoutMs;
  }

  /**
   * The payment for these terms: the one of the same challenge, or one for the same terms that was lost on its way, or a
   * new one.
   * @throws X402SchemeError X402_PAID_TOO_LONG_AGO, X402_FUNDS_TIMED_OUT; WalletError
   */
  async for(terms: X402Terms, challenge: string): Promise<WireBundle> {
    const text = termsText(terms);
    const id = hash(`${challenge} ${text}`);
    const making = this.#making.get(id);
    if (making !== undefined) return making;
    const made = this.#give(id, hash(text), terms).finally(() => this.#making.delete(id));
    this.#making.set(id, made);
    return made;
  }

  /** Whether a payment was given out here. @param nullifier decimal */
  idOf(nullifier: string): string | undefined {
    return this.#ids.get(nullifier);
  }

  /** Is sent by who sees its answer. */
  track(id: string): void {
    this.#tracked.add(id);
  }

  /** It was settled, says the seller. Whether it also answered is known only to who saw the answer. */
  async settled(id: string): Promise<void> {
    if (!this.#tracked.has(id)) await this.close(id);
  }

  /** The seller took it, or it is no use to show it again. */
  async close(id: string): Promise<void> {
    this.#busy.delete(id);
    this.#tracked.delete(id);
    await this.#wallet.store.delete(openKey(id));
  }

  /** Nobody answered, or not with what was paid for: the next request with the same terms shows it again. */
  lost(id: string): void {
    this.#busy.delete(id);
  }

  async #give(id: string, terms: string, asked: X402Terms): Promise<WireBundle> {
    const lost = this.#isKnown(id) ? id : await this.#takeLost(terms);
    const given = lost ?? id;
    this.#busy.add(given);
    try {
      const bundle = lost === undefined ? await this.#first(id, terms, asked) : await this.#again(lost, asked);
      this.#ids.set(bundle.publicSignals[6]!, given);
      return bundle;
    } catch (error) {
      this.#busy.delete(given);
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

  /** Of an earlier process, or lost in this one; marked as taken at once. */
  async #takeLost(terms: string): Promise<string | undefined> {
    for (const { value } of await this.#wallet.store.list("x402/")) {
      const open = value as unknown as Open;
      if (open.terms !== terms || this.#busy.has(open.id)) continue;
      const fresh = this.#wallet.now() - open.created < X402_FRESH_MS;
      if (this.#isKnown(open.id) && fresh) {
        this.#busy.add(open.id);
        return open.id;
      }
      await this.#forget(open.id);
    }
    return undefined;
  }

  /** What is too old to be shown is given up, and where it was paid the caller is told before anything is paid again. */
  async #forget(id: string): Promise<void> {
    if (this.#isKnown(id)) await this.#wallet.scan();
    await this.#wallet.store.delete(openKey(id));
    if (this.#isKnown(id) && this.#wallet.status(id).state === "settled") throw this.#paidBefore(id);
  }

  #paidBefore(id: string): X402SchemeError {
    const { transactionHash: transaction = "" } = this.#wallet.status(id);
    const message = "it was paid, and the proof is too old to be shown: the next request pays again";
    return new X402SchemeError("X402_PAID_TOO_LONG_AGO", message, { id, transaction });
  }

  /** Noted before it is begun: what was given out and then forgotten would be paid again. */
  async #first(id: string, terms: string, asked: X402Terms): Promise<WireBundle> {
    const open: Open = { id, terms, created: this.#wallet.now() };
    await this.#wallet.store.put(openKey(id), open as unknown as StoreValue);
    const { recipient, wallet, amount, resource } = asked;
    const { shieldedAddress } = recipient;
    const request = { id, recipient: { wallet, shieldedAddress }, amount, resourceUrl: resource };
    return (await this.#whenReady(() => this.#wallet.pay(request))).bundle;
  }

  /** The same proof while it can be shown, then another attempt from the same note: one of them settles at most. */
  async #again(id: string, { maxTimeoutSeconds }: X402Terms): Promise<WireBundle> {
    const shown = this.#wallet.proofOf(id);
    const fresh = Math.min(X402_FRESH_MS, maxTimeoutSeconds * 1000) - LEAST_LEFT_MS;
    if (shown !== undefined && "bundle" in shown) {
      const age = this.#wallet.now() - shown.bundle.timestamp;
      if (age < fresh && this.#wallet.now() < this.#wallet.status(id).validUntil * 1000 - LEAST_LEFT_MS)
        return shown.bundle;
    }
    await this.#wallet.scan();
    if (this.#wallet.status(id).state !== "settled")
      return (await this.#whenReady(() => this.#wallet.payAgain(id))).bundle;
    if (shown !== undefined && "bundle" in shown && this.#wallet.now() - shown.bundle.timestamp < X402_FRESH_MS)
      return shown.bundle;
    await this.close(id);
    throw this.#paidBefore(id);
  }

  /** Change comes back as a note that needs a moment before it can be spent. */
  async #whenReady(make: () => Promise<Payment>): Promise<Payment> {
    const end = Date.now() + this.#fundsTimeoutMs;
    for (;;) {
      try {
        return await make();
      } catch (cause) {
        if (!(cause instanceof WalletError) || cause.code !== "FUNDS_NOT_READY") throw cause;
        if (Date.now() >= end)
          throw new X402SchemeError("X402_FUNDS_TIMED_OUT", "no note became spendable in time", {}, { cause });
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}
