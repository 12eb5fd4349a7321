// What was paid for which challenge, so that nothing is paid twice.
import { type Payment, type StoreValue, type Wallet, WalletError } from "@sotto/client";
import { MAX_PAYMENT_AGE_MS, PAYMENT_SIGNAL, type WireBundle } from "@sotto/protocol";
import { termsText, type X402Terms } from "@sotto/protocol/x402";
import { keccak256, toUtf8Bytes } from "ethers";
import { X402SchemeError } from "../errors.ts";

/** A payment that was given out and of which nobody knows yet whether it was taken. */
interface Open {
  /** The wallet's id of it. */
  readonly id: string;
  /** Names the terms, whatever the challenge. */
  readonly terms: string;
}

const hash = (text: string): string => keccak256(toUtf8Bytes(text)).slice(2, 34);
const openKey = (id: string): string => `x402/${id}`;

/** A proof this close to its end is not worth showing: the seller has to settle it first. */
const LEAST_LEFT_MS = 60_000;
const LOOK_MS = 400;

/** The nullifier that a payload names, whatever else it is. */
export function nullifierOf(payload: unknown): string | undefined {
  const { publicSignals } = Object(payload) as Partial<WireBundle>;
  const nullifier = Array.isArray(publicSignals) ? publicSignals[PAYMENT_SIGNAL.nullifier] : undefined;
  return typeof nullifier === "string" ? nullifier : undefined;
}

export class Payments {
  readonly #wallet: Wallet;
  readonly #fundsTimeoutMs: number;
  readonly #making = new Map<string, Promise<WireBundle>>();
  /** Given out by this process, and not known to be lost: another request must not show them too. */
  readonly #busy = new Set<string>();
  /** Whose answers are seen whole, status and all. */
  readonly #tracked = new Set<string>();
  /** Ids by nullifier, and the other way round, of what was given out by this process and is not over. */
  readonly #ids = new Map<string, string>();
  readonly #nullifiers = new Map<string, string>();

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
  idOf(nullifier: string | undefined): string | undefined {
    return nullifier === undefined ? undefined : this.#ids.get(nullifier);
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
    this.#ids.delete(this.#nullifiers.get(id) ?? "");
    this.#nullifiers.delete(id);
    await this.#wallet.store.delete(openKey(id));
  }

  /** Nobody answered, or not with what was paid for: the next request with the same terms shows it again. */
  lost(id: string): void {
    this.#busy.delete(id);
  }

  async #give(id: string, terms: string, asked: X402Terms): Promise<WireBundle> {
    const known = this.#isKnown(id) ? id : await this.#takeLost(terms);
    const again = known === undefined ? undefined : await this.#giving(known, () => this.#again(known, asked));
    if (again === undefined && known === id)
      throw new WalletError("PAYMENT_CLOSED", "the payment of this challenge can never settle: ask the seller anew");
    return again ?? this.#giving(id, () => this.#first(id, terms, asked));
  }

  /** Nobody else is given the same while it is made, and until it is known to be lost. */
  async #giving<B extends WireBundle | undefined>(id: string, make: () => Promise<B>): Promise<B> {
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

  /** Of an earlier process, or lost in this one; marked as taken at once. */
  async #takeLost(terms: string): Promise<string | undefined> {
    for (const { value } of await this.#wallet.store.list("x402/")) {
      const open = value as unknown as Open;
      if (open.terms !== terms || this.#busy.has(open.id)) continue;
      if (this.#isKnown(open.id)) {
        this.#busy.add(open.id);
        return open.id;
      }
      // Noted, and never begun.
      await this.#wallet.store.delete(openKey(open.id));
    }
    return undefined;
  }

  #paidBefore(id: string): X402SchemeError {
    const { transactionHash: transaction = "" } = this.#wallet.status(id);
    const message = "it was paid, and the proof is too old to be shown: the next request pays again";
    return new X402SchemeError("X402_PAID_TOO_LONG_AGO", message, { id, transaction });
  }

  /** Noted before it is begun: what was given out and then forgotten would be paid again. */
  async #first(id: string, terms: string, asked: X402Terms): Promise<WireBundle> {
    const open: Open = { id, terms };
    await this.#wallet.store.put(openKey(id), open as unknown as StoreValue);
    const { recipient, wallet, amount, resource, service } = asked;
    const { shieldedAddress } = recipient;
    const request = { id, recipient: { wallet, shieldedAddress }, amount, resourceUrl: resource, service };
    return (await this.#whenReady(() => this.#wallet.pay(request))).bundle;
  }

  /**
   * The same proof while it can be shown, then another attempt from the same note: one of them settles at most, however
   * long ago the first was lost.
   * @returns undefined where its note is gone and nothing of it can settle any more
   */
  async #again(id: string, { maxTimeoutSeconds }: X402Terms): Promise<WireBundle | undefined> {
    const proof = this.#wallet.proofOf(id);
    const shown = proof !== undefined && "bundle" in proof ? proof.bundle : undefined;
    const age = this.#wallet.now() - (shown?.timestamp ?? 0);
    const left = this.#wallet.status(id).validUntil * 1000 - this.#wallet.now();
    const fresh = Math.min(MAX_PAYMENT_AGE_MS, maxTimeoutSeconds * 1000);
    if (shown !== undefined && age < fresh - LEAST_LEFT_MS && left > LEAST_LEFT_MS) return shown;
    await this.#wallet.scan();
    const { state, final } = this.#wallet.status(id);
    if (state === "settled") {
      if (shown !== undefined && age < fresh) return shown;
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
