import type { Attend, Attended } from "@sotto/cli-kit/home";
import type { PayingAttachment } from "@sotto/client";
import { unlessAborted, type Wallet } from "@sotto/wallet";

/** Attends to the wallet before it spends, once as long as it is open. @returns what the program shows beside its payments */
export type AttendNow = () => Promise<readonly PayingAttachment[]>;

/**
 * Runs `action` with the open wallet.
 * @param signal ends the wait until the wallet is open; from then on, the action has to watch it
 */
export type WalletAccess = <T>(
  action: (wallet: Wallet, attend: AttendNow) => Promise<T>,
  signal: AbortSignal,
) => Promise<T>;

/** A wallet that is open or opens. */
interface Opened {
  readonly wallet: Promise<Wallet>;
  /** Since the first call that spends. */
  attended?: Promise<Attended> | undefined;
}

const NOTHING: Attended = { attachments: [], end: async () => undefined };

/**
 * Opens a wallet when it is needed and closes it after a period without use, so that the command line and other
 * servers can use it in between.
 */
export class SharedWallet {
  readonly #openWallet: (signal: AbortSignal) => Promise<Wallet>;
  readonly #idleMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #attend: Attend;
  #opened: Opened | undefined;
  /** Ends the opening; undefined once the wallet is open. */
  #opening: AbortController | undefined;
  #closing: Promise<void> = Promise.resolve();
  /** Ends the action of `whileIdle`. */
  #idle: AbortController | undefined;
  #users = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param open opens the wallet; its signal aborts once no call waits for the wallet any more
   * @param idleMs milliseconds without a user after which the wallet is closed
   * @param onError called if the wallet cannot be closed
   * @param attend attends to the wallet from the first call that spends until it is closed; default: nothing does
   */
  constructor(
    open: (signal: AbortSignal) => Promise<Wallet>,
    idleMs: number,
    onError: (error: unknown) => void = () => undefined,
    attend: Attend = async () => NOTHING,
  ) {
    this.#openWallet = open;
    this.#idleMs = idleMs;
    this.#onError = onError;
    this.#attend = attend;
  }

  /** Runs an action with the open wallet, and opens it first if necessary. */
  readonly use: WalletAccess = (action, signal) => {
    this.#idle?.abort();
    return this.#use((wallet, opened) => {
      const attend = async () => (await unlessAborted(this.#attendTo(wallet, opened), signal)).attachments;
      return action(wallet, attend);
    }, signal);
  };

  /**
   * Runs an action with the open wallet while no call uses it. The action's signal aborts as soon as a call begins, which does not
   * wait for the action.
   * @returns undefined if a call uses the wallet, or began to
   */
  async whileIdle<T>(
    action: (wallet: Wallet, signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    if (this.#users > 0) return undefined;
    const idle = new AbortController();
    this.#idle = idle;
    const stop = AbortSignal.any([signal, idle.signal]);
    try {
      return await this.#use((wallet) => action(wallet, stop), stop);
    } catch (error) {
      if (idle.signal.aborted && !signal.aborted) return undefined;
      throw error;
    } finally {
      if (this.#idle === idle) this.#idle = undefined;
    }
  }

  async #use<T>(action: (wallet: Wallet, opened: Opened) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#users += 1;
    clearTimeout(this.#timer);
    try {
      const opened = this.#open();
      return await action(await unlessAborted(opened.wallet, signal), opened);
    } finally {
      this.#users -= 1;
      // A node that does not answer must not delay the next call, which may find another one.
      if (this.#users === 0 && this.#opening !== undefined) void this.#release();
      else if (this.#users === 0) this.#timer = setTimeout(() => void this.#release(), this.#idleMs);
    }
  }

  /** Closes the wallet, without waiting for its users. A later use opens it again. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#release();
  }

  #open(): Opened {
    if (this.#opened === undefined) {
      const opening = new AbortController();
      const wallet = this.#closing.then(() => this.#openWallet(opening.signal));
      const opened: Opened = { wallet };
      const ended = () => {
        if (this.#opening === opening) this.#opening = undefined;
      };
      wallet.then(ended, () => {
        ended();
        if (this.#opened === opened) this.#opened = undefined;
      });
      this.#opening = opening;
      this.#opened = opened;
    }
    return this.#opened;
  }

  /** Attends to an open wallet once. After a failure, the next call tries again. */
  #attendTo(wallet: Wallet, opened: Opened): Promise<Attended> {
    if (opened.attended === undefined) {
      const attended = this.#attend(wallet);
      opened.attended = attended;
      attended.catch(() => {
        if (opened.attended === attended) opened.attended = undefined;
      });
    }
    return opened.attended;
  }

  #release(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#opening?.abort();
    if (opened !== undefined)
      this.#closing = opened.wallet.then(
        // A rejection would end the process, or make every later use fail.
        (wallet) => close(wallet, opened).catch(this.#onError),
        () => undefined,
      );
    return this.#closing;
  }
}

async function close(wallet: Wallet, { attended }: Opened): Promise<void> {
  try {
    await (await attended?.catch(() => undefined))?.end();
  } finally {
    await wallet.close();
  }
}
