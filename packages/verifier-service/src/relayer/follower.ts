import { type CaughtUp, type Chain, type Head, type PageSink, PoolFollower } from "@sotto/chain";
import { LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Lease, Store } from "../store/index.ts";
import { ledgerPage } from "./page.ts";
import type { PoolDeployment, RelayerConfig } from "./types.ts";

export interface FollowerOptions {
  store: Store;
  chain: Chain;
  pool: PoolDeployment;
  config: Pick<RelayerConfig, "rangeSize" | "reorgDepth">;
}

/**
 * Keeps the store's ledger in step with the pool's events. Everything that the relayer reports about payments is based
 * on these events, not on receipts of its own transactions, so it does not matter who sent a transaction.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #follower: PoolFollower<Head>;

  constructor(options: FollowerOptions) {
    const { chain, pool, config } = options;
    this.#options = options;
    this.#follower = new PoolFollower({
      chain,
      pool: pool.pool,
      deploymentBlock: pool.deploymentBlock,
      rangeSize: config.rangeSize,
      anchors: true,
      checkQueue: true,
      // On other chains no reorganization goes back that far. A reset would discard everything that was read and sent.
      canReset: LOCAL_CHAIN_IDS.includes(pool.chainId),
    });
  }

  /** Reads up to the newest block. @throws like `PoolFollower.catchUp`; DatabaseError LEASE_LOST */
  catchUp(lease: Lease): Promise<CaughtUp<Head>> {
    return this.#follower.catchUp(this.#sink(lease));
  }

  #sink(lease: Lease): PageSink {
    const { store, pool, config } = this.#options;
    return {
      known: () => store.ledger.blocks(),
      counts: async () => ({
        leaves: await store.ledger.leafCount(),
        appended: (await store.ledger.lastAppend())?.size ?? 0,
      }),
      add: (page) => store.asRelayer(lease, ({ ledger }) => ledger.add(ledgerPage(page), config.reorgDepth)),
      rollBack: (to) =>
        store.asRelayer(lease, async ({ ledger, operations }) => {
          await ledger.rollBack(to);
          await operations.unsettle(to);
          if (to < pool.deploymentBlock) await operations.resetForNewChain();
          else await operations.unmine(to);
        }),
    };
  }
}
