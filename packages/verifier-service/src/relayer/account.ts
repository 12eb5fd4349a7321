import {
  SignerError,
  type SignerErrorCode,
  type TransactionSigner,
  type UnsignedTransaction,
} from "../signer/index.ts";
import type { RelayerLog, RelayerMetrics } from "./types.ts";

/** Pause after a signer failed, ms, doubled each time: a round waits for the signer, and one that hangs takes its whole timeout. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;

interface Failure {
  readonly error: SignerError;
  /** What the signer was asked to sign. */
  readonly transaction: UnsignedTransaction;
  /** Consecutive failures. */
  readonly times: number;
  /** End of the pause. */
  readonly until: number;
}

export interface AccountOptions {
  /** Lower case. */
  readonly address: string;
  readonly signer: TransactionSigner;
  /** Whether it sends nothing new, because the operator is about to remove it. */
  readonly isDraining: boolean;
  readonly metrics: RelayerMetrics;
  readonly log: RelayerLog;
  /** Measures durations, ms. */
  readonly monotonic: () => number;
}

/** An account of the relayer, and whether its signer works. */
export class Account {
  readonly address: string;
  readonly isDraining: boolean;
  readonly #options: AccountOptions;
  /** The signer's last failure, if it has not signed since. */
  #failure: Failure | undefined;
  #retrying: Promise<unknown> | undefined;
  /** Why the last check failed. */
  #checkFault: SignerErrorCode | undefined;

  constructor(options: AccountOptions) {
    this.address = options.address;
    this.isDraining = options.isDraining;
    this.#options = options;
  }

  /** Why the signer did not sign the last transaction, or fails its check; undefined if it works. */
  get fault(): SignerErrorCode | undefined {
    return this.#failure?.error.code ?? this.#checkFault;
  }

  /** Whether the signer failed so recently that it is not asked again. */
  get isPaused(): boolean {
    return this.#failure !== undefined && this.#options.monotonic() < this.#failure.until;
  }

  /**
   * Signs a transaction; during a pause, fails as before without asking the signer.
   * @throws SignerError
   */
  async sign(transaction: UnsignedTransaction): Promise<string> {
    if (this.#failure !== undefined && this.isPaused) throw this.#failure.error;
    try {
      const raw = await this.#options.signer.signTransaction(transaction);
      if (this.#failure !== undefined) this.#options.log.info({ account: this.address }, "the signer works again");
      this.#failure = undefined;
      this.#checkFault = undefined;
      return raw;
    } catch (error) {
      if (error instanceof SignerError) this.#failed(error, transaction);
      throw error;
    }
  }

  /**
   * Checks that the signer works. After a failure, only a signature shows that: in the background, what it failed to sign is
   * signed again, and the result is dropped. Otherwise a service that admits no payments because of the failure would never sign
   * again.
   * @returns why it does not work; undefined if it works
   */
  async check(): Promise<SignerErrorCode | undefined> {
    const failure = this.#failure;
    if (failure === undefined) return this.#checkSigner();
    if (!this.isPaused)
      this.#retrying ??= this.sign(failure.transaction)
        .catch(() => undefined)
        .finally(() => {
          this.#retrying = undefined;
        });
    return failure.error.code;
  }

  async #checkSigner(): Promise<SignerErrorCode | undefined> {
    try {
      await this.#options.signer.check?.();
      this.#checkFault = undefined;
    } catch (error) {
      if (!(error instanceof SignerError)) throw error;
      this.#checkFault = error.code;
    }
    return this.#checkFault;
  }

  #failed(error: SignerError, transaction: UnsignedTransaction): void {
    const { metrics, log, monotonic } = this.#options;
    const times = (this.#failure?.times ?? 0) + 1;
    const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (times - 1));
    this.#failure = { error, transaction, times, until: monotonic() + pause };
    metrics.count("relayer_errors_total", 1, { code: error.code });
    log.error(
      { account: this.address, code: error.code, err: error },
      "the signer did not sign; it is asked again later",
    );
  }
}
