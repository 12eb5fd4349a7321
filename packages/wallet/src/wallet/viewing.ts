import { BASE8, decodeShieldedAddress, multiplyPoint, ProtocolError } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { PoolSync } from "../scan/sync.ts";
import type { ScanResult } from "../scan/types.ts";
import type { Store } from "../store/store.ts";
import { connectPool, finalityOf, type PoolInfo, type PoolOptions, parseCount } from "./connect.ts";
import type { ScanOptions } from "./core.ts";
import { claimStore } from "./identity.ts";
import { Lock } from "./lock.ts";

export interface ViewingWalletOptions extends PoolOptions {
  /** Odd, in [1, l). */
  viewingKey: bigint;
  /** The address that the key belongs to. */
  shieldedAddress: string;
  /** Keeps what was scanned. One viewing key per store. */
  store: Store;
  /** Maximum blocks per request to the node. Default: 10,000. */
  rangeSize?: number | undefined;
}

/** An incoming payment or deposit. */
export interface Received {
  /** Base units. */
  amount: bigint;
  /** How the tokens arrived. */
  origin: "payment" | "deposit";
  /** Index of the note in the tree. */
  leafIndex: number;
  /** Number of the block that settled it. */
  blockNumber: number;
  /** Time of its block, seconds. Requesting that block from the node would reveal the payment's owner. */
  timestamp: number;
  /** Hash of its transaction. */
  transactionHash: string;
  /** Whether it has the required confirmations. */
  confirmed: boolean;
}

/**
 * Reads the payments to a shielded address, for a merchant's server or an auditor. It has no spending key and no change
 * key, so it cannot spend, and does not see what the owner spends.
 */
export class ViewingWallet {
  /** The pool that it reads. */
  readonly pool: PoolInfo;
  readonly #sync: PoolSync;
  readonly #lock = new Lock();

  private constructor(pool: PoolInfo, sync: PoolSync) {
    this.pool = pool;
    this.#sync = sync;
  }

  /**
   * Opens a wallet that reads received payments with a viewing key, and spends nothing.
   * @throws the errors of `Wallet.open`; SottoError INVALID_KEY if the key does not belong to the address
   */
  static async open(options: ViewingWalletOptions): Promise<ViewingWallet> {
    const { viewingKey, shieldedAddress, store } = Object(options) as ViewingWalletOptions;
    const { ownerTag } = assertViewingKey(viewingKey, shieldedAddress);
    const rangeSize = options.rangeSize === undefined ? undefined : parseCount(options.rangeSize, "rangeSize", 1);
    if (typeof store !== "object" || store === null) throw new WalletError("INVALID_OPTION", "store is missing");
    const { chain, info } = await connectPool(options);
    const finality = finalityOf(options, info.chainId);
    await claimStore(store, { ...info, owner: `viewing ${shieldedAddress}` });
    const { deploymentBlock } = info;
    const keys = { viewingKey, ownerTag };
    const sync = await PoolSync.open({ chain, deployment: info, deploymentBlock, store, finality, keys, rangeSize });
    return new ViewingWallet(info, sync);
  }

  /** Scans new blocks. */
  scan({ onProgress, signal }: ScanOptions = {}): Promise<ScanResult> {
    return this.#lock.run(() => this.#sync.scan(onProgress, signal), signal);
  }

  /** All incoming payments and deposits in chain order, as of the last scan. */
  received(): Received[] {
    const { ledger, confirmed } = this.#sync;
    return [...ledger.notes.values()].map(({ amount, origin, leafIndex, blockNumber, timestamp, transactionHash }) => ({
      amount,
      origin: origin === "deposit" ? origin : "payment",
      leafIndex,
      blockNumber,
      timestamp,
      transactionHash,
      confirmed: confirmed !== undefined && blockNumber <= confirmed.number,
    }));
  }

  /** Sum of all confirmed incoming payments and deposits, base units. Outgoing payments are not visible. */
  total(): bigint {
    return this.received().reduce((total, { amount, confirmed }) => (confirmed ? total + amount : total), 0n);
  }
}

function assertViewingKey(viewingKey: bigint, shieldedAddress: string) {
  const address = decodeShieldedAddress(shieldedAddress);
  const wrong = () => new ProtocolError("INVALID_KEY", "the viewing key does not belong to the shielded address");
  if (typeof viewingKey !== "bigint" || viewingKey < 1n || (viewingKey & 1n) === 0n) throw wrong();
  const { x, y } = multiplyPoint(BASE8, viewingKey);
  if (x !== address.encryptionKey.x || y !== address.encryptionKey.y) throw wrong();
  return address;
}
