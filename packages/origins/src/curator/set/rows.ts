/** Rows of a table in its order, which are read in pages. */
export class Rows<Row> {
  readonly #read: (last: Row | undefined) => Promise<readonly Row[]>;
  #page: readonly Row[] = [];
  #next = 0;
  #ended = false;

  /** @param read the rows after `last`, none at the end */
  constructor(read: (last: Row | undefined) => Promise<readonly Row[]>) {
    this.#read = read;
  }

  /** Calls `take` with the next rows for as long as `wanted` is true. */
  async while(wanted: (row: Row) => boolean, take: (row: Row) => void): Promise<void> {
    for (;;) {
      if (this.#next === this.#page.length && !this.#ended) {
        this.#page = await this.#read(this.#page.at(-1));
        this.#next = 0;
        this.#ended = this.#page.length === 0;
      }
      const row = this.#page[this.#next];
      if (row === undefined || !wanted(row)) return;
      take(row);
      this.#next += 1;
    }
  }
}
