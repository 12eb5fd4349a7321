import type { Wallet } from "@sotto/client";

/** Runs `action` with the open wallet. */
export type WalletAccess = <T>(action: (wallet: Wallet) => Promise<T>) => Promise<T>;

/**
 * Opens a wallet when it is needed and closes it after a period without use, so that the command line and other
 * servers can use it in between.
 */
export class SharedWallet {
  readonly #open: () => Promise<Wallet>;
  readonly #idleMs: number;
  readonly #onError: (error: unknown) => void;
  #wallet: Promise<Wallet> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #users = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param idleMs milliseconds without a user after which the wallet is closed
   * @param onError called if the wallet cannot be closed
   */
  constructor(open: () => Promise<Wallet>, idleMs: number, onError: (error: unknown) => void = () => undefined) {
    this.#open = open;
    this.#idleMs = idleMs;
    this.#onError = onError;
  }

  /** Runs an action with the open wallet, and opens it first if necessary. */
  readonly use: WalletAccess = async (action) => {
    this.#users += 1;
    clearTimeout(this.#timer);
    try {
      return await action(await this.#opened());
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#timer = setTimeout(() => void this.#release(), this.#idleMs);
    }
  };

  /** Closes the wallet, without waiting for its users. A later use opens it again. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#release();
  }

  #opened(): Promise<Wallet> {
    if (this.#wallet === undefined) {
      const wallet = this.#closing.then(() => this.#open());
      wallet.catch(() => {
        if (this.#wallet === wallet) this.#wallet = undefined;
      });
      this.#wallet = wallet;
    }
    return this.#wallet;
  }

  #release(): Promise<void> {
    const wallet = this.#wallet;
    this.#wallet = undefined;
    if (wallet !== undefined)
      this.#closing = wallet.then(
        // A rejection would end the process, or make every later use fail.
        (open) => open.close().catch(this.#onError),
        () => undefined,
      );
    return this.#closing;
  }
}
