// The options of prepaid tokens.
import type { WirePrepaidKeyFile, WireSignedSchedule } from "../index.ts";

/** Sells and accepts prepaid tokens. */
export interface PrepaidOptions {
  /** 1 to 4 signed schedules of this origin: paths of files, or their content. */
  readonly schedules: readonly (string | WireSignedSchedule)[];
  /** The private keys: the path of keys.json, or its content. Default: none; this server accepts tokens but sells none. */
  readonly keys?: string | WirePrepaidKeyFile;
  /**
   * Stores the spent tokens: `sqlite:PATH` for one machine, `postgres://..` for several. All servers of one origin
   * share it. It must be durable. Default: the paywall's own store.
   */
  readonly store?: string;
  /**
   * File that remembers how far the store has come, so that a store restored from a backup is noticed. Keep it outside
   * the store's backup. Default: beside keys.json, if `keys` is a path, else none.
   */
  readonly guard?: string;
  /** Closes the keys of all earlier epochs for good, such as "2026-12". For a store that was restored or lost. */
  readonly closedBefore?: string;
  /** Threads that sign, 1 to 16. Default: 2. They start with the first purchase. */
  readonly workers?: number;
}
