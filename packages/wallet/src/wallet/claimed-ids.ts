import type { WalletError } from "../errors.ts";

/**
 * The ids that calls in this process are working on, so that two calls never submit and finish the same deposit or
 * withdrawal.
 */
export class ClaimedIds {
  readonly #claimed = new Set<string>();
  readonly #refuse: (id: string) => WalletError;

  /** @param refuse returns the error for an id that is already claimed */
  constructor(refuse: (id: string) => WalletError) {
    this.#refuse = refuse;
  }

  has(id: string): boolean {
    return this.#claimed.has(id);
  }

  /**
   * Runs `action`, then releases all ids that it claimed.
   * @param id the id to claim first, if there is one
   * @param action gets a function that claims another id, or returns false if that id is already claimed
   * @throws WalletError if `id` is claimed
   */
  async claim<T>(id: string | undefined, action: (claim: (id: string) => boolean) => Promise<T>): Promise<T> {
    const own = new Set<string>();
    const claim = (each: string): boolean => {
      if (own.has(each)) return true;
      if (this.#claimed.has(each)) return false;
      this.#claimed.add(each);
      own.add(each);
      return true;
    };
    if (id !== undefined && !claim(id)) throw this.#refuse(id);
    try {
      return await action(claim);
    } finally {
      for (const each of own) this.#claimed.delete(each);
    }
  }
}
