import { SottoError } from "@sotto/protocol";
import {
  MAX_PREPARED,
  type NoteChoice,
  type PreparedTerms,
  type PrepareRequest,
  type Wallet,
  type WalletNote,
} from "@sotto/wallet";

/** How long after its last payment a host is expected to ask for another one, ms. */
const RECENT_MS = 900_000;
/** Interval between checks of the wallet's notes and prepared payments, ms. */
const LOOK_MS = 10_000;
/** Errors after which no preparation can succeed any more. */
const FINAL = new Set(["PREPARE_UNSUPPORTED", "WALLET_CLOSED", "INVALID_OPTION", "SIGNAL_NOT_FREE"]);

/** What is attached to the payments of a host, as the last one was asked. */
interface Attached {
  /** Which notes may pay now. Its error means that none may. */
  choose(): Promise<NoteChoice>;
  /** Makes ready what is shown beside a payment that spends this note. */
  prepare(note: WalletNote): Promise<void>;
}

const NOTHING: Attached = { choose: async () => ({}), prepare: async () => undefined };

interface Host {
  readonly terms: PrepareRequest;
  readonly text: string;
  readonly attached: Attached;
  /** When it was last paid, by the wallet's clock. */
  readonly paid: number;
  prepared?: PreparedTerms | undefined;
}

const textOf = ({ recipient, amount, service }: PrepareRequest): string =>
  JSON.stringify([recipient.wallet, recipient.shieldedAddress, String(amount), service]);

/**
 * Prepares the next payment to hosts that were paid recently, with the terms of the last one. Failures only cost the
 * advantage: the next payment is then made without preparation.
 */
export class Preparer {
  readonly #wallet: Wallet;
  /** Most recently paid last. */
  readonly #hosts = new Map<string, Host>();
  readonly #lookMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #busy = false;
  /** Whether a payment has settled since the last look began. */
  #isPaid = false;
  #stopped = false;

  constructor(wallet: Wallet, lookMs = LOOK_MS) {
    this.#wallet = wallet;
    this.#lookMs = lookMs;
  }

  /** A host asks for a payment with these terms. What was prepared for other terms of this host is discarded. */
  asked(host: string, terms: PrepareRequest): void {
    const known = this.#hosts.get(host);
    if (known === undefined || known.text === textOf(terms)) return;
    known.prepared?.discard();
    this.#hosts.delete(host);
  }

  /** A payment to a host with these terms has settled. */
  paid(host: string, terms: PrepareRequest, attached = NOTHING): void {
    this.asked(host, terms);
    const prepared = this.#hosts.get(host)?.prepared;
    this.#hosts.delete(host);
    this.#hosts.set(host, { terms, text: textOf(terms), attached, paid: this.#wallet.now(), prepared });
    this.#isPaid = true;
    this.#schedule(0);
  }

  #schedule(delayMs: number): void {
    if (this.#stopped || this.#busy) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delayMs);
    // Under Node, the timer must not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #look(): Promise<void> {
    this.#busy = true;
    this.#isPaid = false;
    const end = this.#wallet.now() - RECENT_MS;
    const isPayable = ({ before = Number.POSITIVE_INFINITY }: PrepareRequest) => this.#wallet.now() < before;
    const recent = [...this.#hosts]
      .filter(([, { paid, terms }]) => paid > end && isPayable(terms))
      .slice(-MAX_PREPARED);
    for (const [name, host] of this.#hosts)
      if (!recent.some(([kept]) => kept === name)) {
        host.prepared?.discard();
        this.#hosts.delete(name);
      }
    for (const [name, host] of recent.reverse()) {
      if (this.#stopped) break;
      try {
        await this.#prepare(name, host);
      } catch (error) {
        if (error instanceof SottoError && FINAL.has(error.code)) this.#stopped = true;
      }
    }
    // An error only costs the advantage.
    for (const [name] of recent) await this.#prepareAttached(name).catch(() => undefined);
    this.#busy = false;
    if (this.#hosts.size > 0) this.#schedule(this.#isPaid ? 0 : this.#lookMs);
  }

  async #prepare(name: string, host: Host): Promise<void> {
    const choice = await host.attached.choose();
    if (host.prepared?.usable(choice) === true) return;
    host.prepared?.discard();
    host.prepared = undefined;
    const prepared = await this.#wallet.prepare(host.terms, choice);
    // Another payment or other terms of the host may have replaced it in the meantime.
    if (this.#hosts.get(name)?.text !== host.text) prepared.discard();
    else (this.#hosts.get(name) as Host).prepared = prepared;
  }

  async #prepareAttached(name: string): Promise<void> {
    const { prepared, attached } = this.#hosts.get(name) ?? {};
    if (this.#stopped || prepared?.usable() !== true) return;
    const note = this.#wallet.notes().find(({ leafIndex }) => leafIndex === prepared.note);
    if (note !== undefined) await attached?.prepare(note);
  }
}
