import type { OriginHead } from "./head.ts";

/**
 * Seconds for which a root stays good after a newer head: a payment is proved before it settles, and its block's time is later.
 * A refused deposit can be spent for that long with an origin.
 */
export const ROOT_GRACE_SECONDS = 3_600;

/** The mask roots of a set's heads, and when each was the newest. */
export class RootHistory {
  /** For each root, until when it was the newest at its last time, seconds; Infinity for the newest one. */
  readonly #until = new Map<bigint, number>();
  #newest: Pick<OriginHead, "maskRoot" | "time"> | undefined;

  /** Adds a head, which must be later than all before it. */
  add({ maskRoot, time }: Pick<OriginHead, "maskRoot" | "time">): void {
    if (this.#newest !== undefined) this.#until.set(this.#newest.maskRoot, time);
    this.#until.set(maskRoot, Number.POSITIVE_INFINITY);
    this.#newest = { maskRoot, time };
  }

  /** Whether a head has this root. */
  has(maskRoot: bigint): boolean {
    return this.#until.has(maskRoot);
  }

  /**
   * Whether a root is good for a payment: the root of the newest head, or of one that was the newest within `graceSeconds` before
   * the payment, or later.
   * @param seconds when the payment was made, Unix time
   */
  accepts(maskRoot: bigint, seconds: number, graceSeconds = ROOT_GRACE_SECONDS): boolean {
    const until = this.#until.get(maskRoot);
    return until !== undefined && until > seconds - graceSeconds;
  }
}
