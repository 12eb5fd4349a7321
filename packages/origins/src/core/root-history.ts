import type { OriginHead } from "./head.ts";

/**
 * Seconds for which a root stays good after a newer head: a payment is proved before it settles, and its block's time is later.
 * A refused deposit can be spent for that long with an origin.
 */
export const ROOT_GRACE_SECONDS = 3_600;

/** The fields of a head that its root's history needs. */
export type RootedHead = Pick<OriginHead, "maskRoot" | "time" | "leaves">;

/** The mask roots of a set's heads, and when each was the newest. */
export class RootHistory {
  /** For each root, the leaves of the last head that has it, and until when that was the newest: Infinity if it still is. */
  readonly #roots = new Map<bigint, { readonly leaves: number; until: number }>();
  #newest: bigint | undefined;

  /** Adds a head, which must be later than all before it. */
  add({ maskRoot, time, leaves }: RootedHead): void {
    const replaced = this.#newest === undefined ? undefined : this.#roots.get(this.#newest);
    if (replaced !== undefined) replaced.until = time;
    this.#roots.set(maskRoot, { leaves, until: Number.POSITIVE_INFINITY });
    this.#newest = maskRoot;
  }

  /** Forgets the roots of heads that cover a leaf from this one on: the chain was reorganized, and the leaf may be another note. */
  forget(leaf: number): void {
    for (const [root, { leaves }] of this.#roots) if (leaves > leaf) this.#roots.delete(root);
  }

  /** Whether a head has this root. */
  has(maskRoot: bigint): boolean {
    return this.#roots.has(maskRoot);
  }

  /**
   * Whether a root is good for a payment: the root of the newest head, or of one that was the newest within `graceSeconds` before
   * the payment, or later.
   * @param seconds when the payment was made, Unix time
   */
  accepts(maskRoot: bigint, seconds: number, graceSeconds = ROOT_GRACE_SECONDS): boolean {
    const root = this.#roots.get(maskRoot);
    return root !== undefined && root.until > seconds - graceSeconds;
  }
}
