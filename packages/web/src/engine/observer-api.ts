// The data that the observer page needs besides the pool's feed: calldata, and the payments that a viewing key reads.
import type { SettledCall, SettledEvent } from "@sotto/chain";
import type { HostConfig } from "../config.ts";

/** A transaction that settled payments. */
export interface SettleTransaction {
  readonly hash: string;
  /** The sender, which paid the gas: a relayer. */
  readonly from: string;
  readonly to: string | undefined;
  /** Calldata, hex with 0x. */
  readonly data: string;
  /** Undefined if another contract called the pool. */
  readonly payments: readonly SettledCall[] | undefined;
}

/**
 * Runs in a separate worker, so that a long calculation delays neither the page nor the wallet. Methods reject with a
 * `Failure`.
 */
export interface Observer {
  start(config: HostConfig): Promise<void>;
  /**
   * Requests transactions from the node, each one only once. Pass all recent ones: a request for a single one would
   * show the node which payment this browser is interested in.
   */
  transactions(hashes: readonly string[]): Promise<readonly (SettleTransaction | undefined)[]>;
  /**
   * Keeps viewing keys in memory until the tab is closed.
   * @param text as `sotto view-key` writes it
   * @returns the months that they open
   * @throws VIEWING_KEY_INVALID
   */
  setKey(text: string): Promise<string>;
  forgetKey(): Promise<void>;
  /** The months that the keys open, if there are keys. */
  keyMonths(): Promise<string | undefined>;
  /** The amounts of payments to the keys' addresses, base units; undefined for other payments, or without a key. */
  amounts(events: readonly SettledEvent[]): Promise<readonly (bigint | undefined)[]>;
}
