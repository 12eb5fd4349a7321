/** How long a scrape waits for a value. Prometheus gives up a scrape after 10 s by default, and then loses all metrics. */
const WAIT_MS = 2_000;
/** How old a value may be that is shown instead of a later one. */
const MAX_AGE_MS = 60_000;

/** How long a value is shown again without reading it: anyone who reaches the metrics may request them as often as they like. */
const REUSE_MS = 1_000;

/** When a value is shown. */
export interface SampledOptions {
  /** How long a value is shown again without reading it, ms. Default: 1,000. */
  readonly reuseMs?: number | undefined;
  /** Maximum time that `get` waits, ms. Default: 2,000. */
  readonly waitMs?: number | undefined;
  /** Monotonic time, ms. Default: `performance.now`. */
  readonly clock?: (() => number) | undefined;
}

/**
 * A value that is read for each scrape of the metrics, from something that may be slow or fail. Neither must break the scrape,
 * and a value that can no longer be read must not be shown for long as if it were the present one.
 */
export class Sampled<Value> {
  readonly #read: () => Promise<Value>;
  readonly #options: Required<{ [K in keyof SampledOptions]: NonNullable<SampledOptions[K]> }>;
  #reading: Promise<void> | undefined;
  #last: { readonly value: Value; readonly at: number } | undefined;

  /** @param read reads the value now */
  constructor(
    read: () => Promise<Value>,
    { reuseMs = REUSE_MS, waitMs = WAIT_MS, clock = () => performance.now() }: SampledOptions = {},
  ) {
    this.#read = read;
    this.#options = { reuseMs, waitMs, clock };
  }

  /**
   * Reads the value, unless it was read just now. Concurrent calls share one reading, also one that outlasts their wait. Never rejects.
   * @returns the present value; if it does not arrive in time, the last one unless it is too old; undefined if there is none, or if
   * reading fails
   */
  async get(): Promise<Value | undefined> {
    const { reuseMs, waitMs, clock } = this.#options;
    if (this.#last !== undefined && clock() - this.#last.at < reuseMs) return this.#last.value;
    this.#reading ??= this.#start().finally(() => {
      this.#reading = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs);
    });
    await Promise.race([this.#reading, late]);
    clearTimeout(timer);
    const last = this.#last;
    return last !== undefined && clock() - last.at <= MAX_AGE_MS ? last.value : undefined;
  }

  async #start(): Promise<void> {
    const at = this.#options.clock();
    try {
      this.#last = { value: await this.#read(), at };
    } catch {
      this.#last = undefined;
    }
  }
}
