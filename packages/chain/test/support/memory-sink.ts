import type { PageSink, PoolPage } from "../../src/index.ts";

/** Pages in memory. */
export class MemorySink implements PageSink {
  readonly pages: PoolPage[] = [];
  readonly rollbacks: number[] = [];
  discarded = 0;
  /** Called before a page is added. */
  beforeAdd: (page: PoolPage) => void = () => undefined;

  async known() {
    return this.pages.map(({ to, hash }) => ({ number: to, hash })).reverse();
  }

  async counts() {
    return { leaves: this.leaves.length, appended: 0 };
  }

  async add(page: PoolPage) {
    this.beforeAdd(page);
    this.pages.push(page);
  }

  async rollBack(block: number) {
    this.rollbacks.push(block);
    this.pages.splice(this.pages.findLastIndex(({ to }) => to <= block) + 1);
  }

  async discardUnchecked() {
    this.discarded += 1;
    this.pages.length = 0;
  }

  get leaves(): bigint[] {
    return this.pages.flatMap(({ leaves }) => leaves.map(({ leaf }) => leaf));
  }

  /** First and last blocks of the pages. */
  get ranges(): [from: number, to: number][] {
    return this.pages.map(({ from, to }) => [from, to]);
  }
}
