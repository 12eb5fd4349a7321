/**
 * Seconds for which a root stays good after a newer head: a payment is proved before it settles, and its block's time is later.
 * A refused deposit can be spent for that long with an origin.
 */
export const ROOT_GRACE_SECONDS = 3_600;

/** A root of a set, and when it became the newest one. */
export interface TimedRoot {
  /** Root of a head's mask tree, a field element. */
  readonly maskRoot: bigint;
  /** Unix time, seconds: that of the head, or of its block. All roots of a history have times of one kind. */
  readonly time: number;
}

/** The mask roots of a set's heads, and when each was the newest. */
export class RootHistory {
  /** For each root, until when it was the newest at its last time, seconds; Infinity for the newest one. */
  readonly #until = new Map<bigint, number>();
  #newest: bigint | undefined;

  /** Adds the root of a head that is later than all before it. */
  add({ maskRoot, time }: TimedRoot): void {
    if (this.#newest !== undefined) this.#until.set(this.#newest, time);
    this.#until.set(maskRoot, Number.POSITIVE_INFINITY);
    this.#newest = maskRoot;
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
