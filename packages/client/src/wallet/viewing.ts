import { BASE8, decodeShieldedAddress, multiplyPoint, ProtocolError } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { PoolSync } from "../scan/sync.ts";
import type { ScanResult } from "../scan/types.ts";
import type { Store } from "../store/store.ts";
import { connectPool, expectCount, finalityOf, type PoolInfo, type PoolOptions } from "./connect.ts";
import type { ScanOptions } from "./core.ts";
import { claimStore } from "./identity.ts";
import { Lock } from "./lock.ts";

export interface ViewingWalletOptions extends PoolOptions {
  /** Odd, in [1, l). */
  viewingKey: bigint;
  /** The address the key belongs to. */
  shieldedAddress: string;
  store: Store;
  rangeSize?: number;
}

/** Something that came in. */
export interface Received {
  /** Base units. */
  amount: bigint;
  origin: "payment" | "deposit";
  leafIndex: number;
  blockNumber: number;
  /** Time of its block, seconds: who asks the node for that block shows it whose it is. */
  timestamp: number;
  transactionHash: string;
  /** Whether it has the configured confirmations. */
  confirmed: boolean;
}

/**
 * Reads what was paid to a shielded address: for a merchant's server or an auditor. It holds no spending key and no
 * change key, so it can spend nothing, and does not see what its owner spends.
 */
export class ViewingWallet {
  readonly pool: PoolInfo;
  readonly #sync: PoolSync;
  readonly #lock = new Lock();

  private constructor(pool: PoolInfo, sync: PoolSync) {
    this.pool = pool;
    this.#sync = sync;
  }

  /** @throws like `Wallet.open`; SottoError INVALID_KEY where the key is not that of the address */
  static async open(options: ViewingWalletOptions): Promise<ViewingWallet> {
    const { viewingKey, shieldedAddress, store } = Object(options) as ViewingWalletOptions;
    const { ownerTag } = checkViewingKey(viewingKey, shieldedAddress);
    const rangeSize = options.rangeSize === undefined ? undefined : expectCount(options.rangeSize, "rangeSize", 1);
    if (typeof store !== "object" || store === null) throw new WalletError("INVALID_OPTION", "store is missing");
    const { chain, info } = await connectPool(options);
    const finality = finalityOf(options, info.chainId);
    await claimStore(store, { ...info, owner: `viewing ${shieldedAddress}` });
    const { deploymentBlock } = info;
    const keys = { viewingKey, ownerTag };
    const sync = await PoolSync.open({ chain, deployment: info, deploymentBlock, store, finality, keys, rangeSize });
    return new ViewingWallet(info, sync);
  }

  /** Reads what is new on the chain. */
  scan({ onProgress, signal }: ScanOptions = {}): Promise<ScanResult> {
    return this.#lock.run(() => this.#sync.scan(onProgress, signal));
  }

  /** All that came in, in the order of the chain, as of the last scan. */
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

  /** Base units that came in with the configured confirmations, ever: what went out is not seen. */
  total(): bigint {
    return this.received().reduce((total, { amount, confirmed }) => (confirmed ? total + amount : total), 0n);
  }
}

function checkViewingKey(viewingKey: bigint, shieldedAddress: string) {
  const address = decodeShieldedAddress(shieldedAddress);
  const wrong = () => new ProtocolError("INVALID_KEY", "the viewing key is not that of the shielded address");
  if (typeof viewingKey !== "bigint" || viewingKey < 1n || (viewingKey & 1n) === 0n) throw wrong();
  const { x, y } = multiplyPoint(BASE8, viewingKey);
  if (x !== address.encryptionKey.x || y !== address.encryptionKey.y) throw wrong();
  return address;
}
