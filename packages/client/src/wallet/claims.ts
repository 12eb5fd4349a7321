import { WalletError } from "../errors.ts";

/** Ids of the stored deposits that this process works on, so that two calls never submit and finish the same one. */
export class Claims {
  readonly #claimed = new Set<string>();

  /**
   * Runs `action` and releases at its end all that it claimed.
   * @param id claimed first, if there is one
   * @param action gets a function that claims another id, and returns false if it is claimed
   * @throws WalletError DEPOSIT_IN_PROGRESS if `id` is claimed
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
    if (id !== undefined && !claim(id))
      throw new WalletError("DEPOSIT_IN_PROGRESS", "another call is working on this deposit", { id });
    try {
      return await action(claim);
    } finally {
      for (const each of own) this.#claimed.delete(each);
    }
  }
}
