/** Number of latest lookups that are considered. */
const LATEST = 1_000;

/**
 * The share of unknown numbers among the latest lookups. Payers look up numbers that they were given; an attacker who
 * tries numbers mostly hits unknown ones.
 */
export class UnknownWatch {
  readonly #unknown: boolean[] = [];
  #next = 0;
  #count = 0;

  add(unknown: boolean): { share: number; lookups: number } {
    if (this.#unknown[this.#next] === true) this.#count -= 1;
    this.#unknown[this.#next] = unknown;
    if (unknown) this.#count += 1;
    this.#next = (this.#next + 1) % LATEST;
    return { share: this.#count / this.#unknown.length, lookups: this.#unknown.length };
  }
}
