import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";

/** How often one payment may be shown to handlers that fail. */
const MOST_USES = 3;

/** One of minutes ago is refused wherever it is shown. A day, ms: a clock that is ahead and put right opens none again. */
const REMEMBERED_MS = 86_400_000;

/** A payer's clock may be ahead by this much without notice, ms. */
const LONGEST_WAIT_MS = 2_000;

interface Entry {
  state: "busy" | "used" | "free";
  uses: number;
  readonly timestamp: number;
}

/** For one process. It refuses what was made before it was started: who knows whether it was used. */
export class MemoryUses implements PaymentUses {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: () => number;
  readonly #start: number;
  #swept: number;

  /** @param clock now, ms */
  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
    this.#start = clock();
    this.#swept = this.#start;
  }

  get size(): number {
    return this.#entries.size;
  }

  async claim({ digest, timestamp }: PaymentUse): Promise<PaymentClaim> {
    this.#sweep();
    // Used now, a payment from the future could be used again after a restart that comes before its time.
    const early = timestamp - this.#clock();
    if (early > LONGEST_WAIT_MS || timestamp < this.#start) return "early";
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const entry = this.#entries.get(digest);
    if (entry?.state === "busy" || entry?.state === "used") return entry.state;
    this.#entries.set(digest, { state: "busy", uses: (entry?.uses ?? 0) + 1, timestamp });
    return "claimed";
  }

  async release({ digest }: PaymentUse): Promise<void> {
    const entry = this.#entries.get(digest);
    if (entry?.state !== "busy") return;
    entry.state = "free";
    entry.uses -= 1;
    // As if it had never come: any number of them come from whoever pays nothing.
    if (entry.uses === 0) this.#entries.delete(digest);
  }

  async reject({ digest }: PaymentUse): Promise<void> {
    if (this.#entries.get(digest)?.state === "busy") this.#entries.delete(digest);
  }

  async consume({ digest }: PaymentUse): Promise<void> {
    const entry = this.#entries.get(digest);
    if (entry !== undefined) entry.state = "used";
  }

  async restore({ digest }: PaymentUse): Promise<void> {
    const entry = this.#entries.get(digest);
    if (entry !== undefined) entry.state = entry.uses < MOST_USES ? "free" : "used";
  }

  #sweep(): void {
    const now = this.#clock();
    if (now - this.#swept < REMEMBERED_MS / 10) return;
    this.#swept = now;
    for (const [digest, { timestamp }] of this.#entries)
      if (now - timestamp > REMEMBERED_MS) this.#entries.delete(digest);
  }
}
