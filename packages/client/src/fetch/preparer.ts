import { SottoError } from "@sotto/protocol";
import { MAX_PREPARED, type NoteChoice, type PreparedTerms, type PrepareRequest, type Wallet } from "@sotto/wallet";

/** How long after its last payment a host is expected to ask for another one, ms. */
const RECENT_MS = 900_000;
/** Interval between checks of the wallet's notes and prepared payments, ms. */
const LOOK_MS = 10_000;
/** Errors after which no preparation can succeed any more. */
const FINAL = new Set(["PREPARE_UNSUPPORTED", "WALLET_CLOSED", "INVALID_OPTION", "SIGNAL_NOT_FREE"]);

/** Which notes may pay now. Its error means that none may. */
type Choose = () => Promise<NoteChoice>;

interface Host {
  readonly terms: PrepareRequest;
  readonly text: string;
  /** Which notes may pay, as the last payment was asked. */
  readonly choose: Choose;
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
  paid(host: string, terms: PrepareRequest, choose: Choose = async () => ({})): void {
    this.asked(host, terms);
    const prepared = this.#hosts.get(host)?.prepared;
    this.#hosts.delete(host);
    this.#hosts.set(host, { terms, text: textOf(terms), choose, paid: this.#wallet.now(), prepared });
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
      if (this.#stopped || host.prepared?.usable() === true) continue;
      host.prepared = undefined;
      try {
        const prepared = await this.#wallet.prepare(host.terms, await host.choose());
        // Another payment or other terms of the host may have replaced it in the meantime.
        if (this.#hosts.get(name)?.text !== host.text) prepared.discard();
        else (this.#hosts.get(name) as Host).prepared = prepared;
      } catch (error) {
        if (error instanceof SottoError && FINAL.has(error.code)) this.#stopped = true;
      }
    }
    this.#busy = false;
    if (this.#hosts.size > 0) this.#schedule(this.#lookMs);
  }
}
