import type { PaymentClaim, PaymentUse, PaymentUses } from "@sotto/protocol";

/** Maximum number of handlers that one payment may start. */
const MAX_HANDLERS = 3;

/**
 * How long a payment is remembered, ms. A day, so that correcting a clock that was ahead does not reopen a used
 * payment.
 */
const RETENTION_MS = 86_400_000;

/** Maximum wait for a timestamp that is ahead of this clock, ms. */
const MAX_WAIT_MS = 2_000;

interface Entry {
  state: "busy" | "used" | "free";
  uses: number;
  readonly timestamp: number;
}

/**
 * Remembers the used payments of a single process. Refuses payments from before its start, because they may have been
 * used.
 */
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

  /** Number of remembered payments. */
  get size(): number {
    return this.#entries.size;
  }

  async claim({ digest, timestamp }: PaymentUse): Promise<PaymentClaim> {
    this.#sweep();
    // If a payment that is dated in the future were used now, it could be used again after a restart before that date.
    const aheadMs = timestamp - this.#clock();
    if (aheadMs > MAX_WAIT_MS || timestamp < this.#start) return "early";
    if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs));
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
    // Deletes it without a trace: unsettled payments cost nothing, so their number is unlimited.
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
    if (entry !== undefined) entry.state = entry.uses < MAX_HANDLERS ? "free" : "used";
  }

  #sweep(): void {
    const now = this.#clock();
    if (now - this.#swept < RETENTION_MS / 10) return;
    this.#swept = now;
    for (const [digest, { timestamp }] of this.#entries)
      if (now - timestamp > RETENTION_MS) this.#entries.delete(digest);
  }
}
