import { unlessAborted, type Wallet } from "@sotto/wallet";

/**
 * Runs `action` with the open wallet.
 * @param signal ends the wait until the wallet is open; from then on, the action has to watch it
 */
export type WalletAccess = <T>(action: (wallet: Wallet) => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * Opens a wallet when it is needed and closes it after a period without use, so that the command line and other
 * servers can use it in between.
 */
export class SharedWallet {
  readonly #open: (signal: AbortSignal) => Promise<Wallet>;
  readonly #idleMs: number;
  readonly #onError: (error: unknown) => void;
  #wallet: Promise<Wallet> | undefined;
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
   */
  constructor(
    open: (signal: AbortSignal) => Promise<Wallet>,
    idleMs: number,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.#open = open;
    this.#idleMs = idleMs;
    this.#onError = onError;
  }

  /** Runs an action with the open wallet, and opens it first if necessary. */
  readonly use: WalletAccess = (action, signal) => {
    this.#idle?.abort();
    return this.#use(action, signal);
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

  async #use<T>(action: (wallet: Wallet) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#users += 1;
    clearTimeout(this.#timer);
    try {
      return await action(await unlessAborted(this.#opened(), signal));
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

  #opened(): Promise<Wallet> {
    if (this.#wallet === undefined) {
      const opening = new AbortController();
      const wallet = this.#closing.then(() => this.#open(opening.signal));
      const opened = () => {
        if (this.#opening === opening) this.#opening = undefined;
      };
      wallet.then(opened, () => {
        opened();
        if (this.#wallet === wallet) this.#wallet = undefined;
      });
      this.#opening = opening;
      this.#wallet = wallet;
    }
    return this.#wallet;
  }

  #release(): Promise<void> {
    const wallet = this.#wallet;
    this.#wallet = undefined;
    this.#opening?.abort();
    if (wallet !== undefined)
      this.#closing = wallet.then(
        // A rejection would end the process, or make every later use fail.
        (open) => open.close().catch(this.#onError),
        () => undefined,
      );
    return this.#closing;
  }
}
