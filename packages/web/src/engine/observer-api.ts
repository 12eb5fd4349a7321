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
   * Keeps a viewing key in memory until the tab is closed.
   * @param text as `sotto export --viewing-key` writes it
   * @returns its shielded address
   * @throws VIEWING_KEY_INVALID
   */
  setKey(text: string): Promise<string>;
  /** Like `setKey`, with the key of this browser's wallet. @param viewingKey hexadecimal, without 0x */
  setWalletKey(viewingKey: string, shieldedAddress: string): Promise<string>;
  forgetKey(): Promise<void>;
  /** The shielded address of the key, if there is one. */
  keyAddress(): Promise<string | undefined>;
  /** The amounts of payments to the key's address, base units; undefined for other payments, or without a key. */
  amounts(events: readonly SettledEvent[]): Promise<readonly (bigint | undefined)[]>;
}
