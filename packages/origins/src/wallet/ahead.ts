// Origins that are proved before anybody asks for them. Nobody has seen them, so they commit the wallet to nothing.
import type { OriginClaim } from "../core/claim.ts";

/** Maximum number of origins that are kept; another one replaces the oldest. */
const MAX_AHEAD = 16;

interface Ahead {
  readonly maskRoot: bigint;
  readonly stop: AbortController;
  /** Undefined until it is proved, and if that failed. */
  claim?: OriginClaim;
}

/** Origins in memory, one for each note and mask root. */
export class OriginsAhead {
  /** Oldest first. */
  readonly #origins = new Map<string, Ahead>();

  /**
   * Proves an origin, unless it was proved or tried before.
   * @param prove must reject soon after its signal is aborted
   * @throws the error of `prove`
   */
  async prove(
    nullifier: bigint,
    maskRoot: bigint,
    prove: (signal: AbortSignal) => Promise<OriginClaim>,
  ): Promise<void> {
    const key = keyOf(nullifier, maskRoot);
    if (this.#origins.has(key)) return;
    const ahead: Ahead = { maskRoot, stop: new AbortController() };
    this.#origins.set(key, ahead);
    for (const oldest of [...this.#origins.keys()].slice(0, -MAX_AHEAD)) this.#drop(oldest);
    ahead.claim = await prove(ahead.stop.signal);
  }

  /** An origin, if it is proved. One that is not proved yet is no longer proved ahead. Another set may have the same root. */
  take(nullifier: bigint, maskRoot: bigint): OriginClaim | undefined {
    const key = keyOf(nullifier, maskRoot);
    const claim = this.#origins.get(key)?.claim;
    if (claim === undefined) this.#drop(key);
    return claim;
  }

  /** Drops the origins with other mask roots. */
  keep(maskRoots: ReadonlySet<bigint>): void {
    for (const [key, { maskRoot }] of this.#origins) if (!maskRoots.has(maskRoot)) this.#drop(key);
  }

  #drop(key: string): void {
    this.#origins.get(key)?.stop.abort();
    this.#origins.delete(key);
  }
}

const keyOf = (nullifier: bigint, maskRoot: bigint): string => `${nullifier} ${maskRoot}`;
