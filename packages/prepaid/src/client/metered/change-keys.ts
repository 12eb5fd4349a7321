import type { PrepaidBook } from "../book.ts";
import { PrepaidError } from "../errors.ts";
import type { Packs } from "../packs.ts";
import type { MerchantKey } from "../schedules.ts";

/** The merchant of some keys, and their month. */
export interface KeyWish {
  readonly origin: string;
  /** The merchant's wallet. */
  readonly wallet: string;
  readonly epoch: string;
  /** Base units. */
  readonly values: readonly bigint[];
}

/** The keys that sign change: pinned, and compared with the mirrors. */
export class ChangeKeys {
  readonly #book: PrepaidBook;
  readonly #packs: Packs;

  constructor(book: PrepaidBook, packs: Packs) {
    this.#book = book;
    this.#packs = packs;
  }

  /**
   * The keys of some values, in their order.
   * @throws PrepaidError PREPAID_NOT_OFFERED if one is missing; PREPAID_KEY_CONFLICT, PREPAID_MIRROR_FAILED, PREPAID_UNREACHABLE,
   *   PREPAID_SCHEDULE_REFUSED
   */
  async of(wish: KeyWish, signal?: AbortSignal): Promise<readonly MerchantKey[]> {
    const { origin, epoch } = wish;
    if (this.#find(wish).includes(undefined)) await this.#packs.pinnedSchedules(origin, signal);
    const keys = this.#find(wish);
    const missing = wish.values.filter((_, i) => keys[i] === undefined);
    if (missing.length > 0)
      throw new PrepaidError(
        "PREPAID_NOT_OFFERED",
        `${origin} has no prepaid key in ${epoch} for the value ${[...new Set(missing)].join(", ")}, which its change needs`,
        { origin },
      );
    const found = keys as readonly MerchantKey[];
    await this.#packs.compare(found, signal);
    return found;
  }

  #find({ origin, wallet, epoch, values }: KeyWish): readonly (MerchantKey | undefined)[] {
    const keys = this.#book.keys(origin).filter((key) => key.wallet === wallet && key.epoch === epoch);
    return values.map((value) => keys.find((key) => key.value === value));
  }
}
