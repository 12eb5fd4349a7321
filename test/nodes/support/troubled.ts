// A world on Anvil whose service and wallets use a node that can fail and, after it, Anvil itself, with what the tests do to
// its chain. The test files of this folder share one, because its deployment takes longer than most tests.

import { atEnd } from "@sotto/test-kit/at-end";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { accountOf, createWorld, type World } from "@sotto/test-world/wallets";
import type { ContractCall } from "@sotto/wallet";
import { expect } from "chai";
import { toQuantity } from "ethers";
import { Books } from "./audit.ts";

export const relayer = accountOf(2);
/** An account that neither the service nor a wallet uses. */
const foreign = accountOf(5);

const proxies: FaultyNode[] = [];
atEnd(async () => {
  for (const proxy of proxies.splice(0)) await proxy.stop();
});

interface Transaction {
  readonly hash: string;
  readonly nonce: string;
}

interface Pool {
  readonly pending: Readonly<Record<string, Readonly<Record<string, Transaction>>>>;
}

export interface Reorganization {
  /** The newest block that stays. */
  readonly after: number;
  /** Signed transactions that the first new block has. */
  readonly add?: readonly string[];
  /** Whether the first new block has the depositor's transactions again. Default: true. */
  readonly keepDeposits?: boolean;
}

export class Troubled {
  readonly world: World;
  readonly books: Books;
  /** The first of the two nodes. */
  readonly first: FaultyNode;

  private constructor(world: World, books: Books, first: FaultyNode) {
    this.world = world;
    this.books = books;
    this.first = first;
  }

  /** Starts one of the caller's own, which ends after all tests of the run. */
  static async start(): Promise<Troubled> {
    const anvil = await startDeployedAnvil();
    const first = await FaultyNode.start(anvil.url);
    proxies.push(first);
    const nodes = [first.url, anvil.url];
    const world = await createWorld(anvil, { SOTTO_RPC_URLS: nodes.join(), SOTTO_RPC_TIMEOUT_MS: "2000" });
    return new Troubled(world, await Books.open(world, world.service, { chain: nodes }), first);
  }

  rpc(method: string, ...params: unknown[]): Promise<unknown> {
    return this.world.provider.send(method, params);
  }

  async mine(blocks: number): Promise<void> {
    await this.rpc("anvil_mine", toQuantity(blocks));
  }

  async automine(on: boolean): Promise<void> {
    await this.rpc("evm_setAutomine", on);
  }

  height(): Promise<number> {
    return this.world.provider.getBlockNumber();
  }

  /** Ends a test's trouble. */
  async calm(): Promise<void> {
    this.first.mode = "honest";
    await this.rpc("evm_setIntervalMining", 0);
    await this.automine(true);
  }

  /** Unmined transactions of an account that can be mined now, in the order of their nonces. */
  async pending(account = relayer.address): Promise<Transaction[]> {
    const pool = (await this.rpc("txpool_content")) as Pool;
    const own = Object.entries(pool.pending).filter(([address]) => address.toLowerCase() === account.toLowerCase());
    const transactions = own.flatMap(([, byNonce]) => Object.values(byNonce));
    return transactions.toSorted((a, b) => Number(a.nonce) - Number(b.nonce));
  }

  /** Waits until an account, by default the relayer's, has this many transactions that are not mined. @returns them */
  sent(count = 1, account = relayer.address): Promise<Transaction[]> {
    return eventually(async () => {
      const found = await this.pending(account);
      return found.length >= count && found;
    });
  }

  /** A transaction of another account, signed but not sent. */
  async signed({ to, data }: ContractCall): Promise<string> {
    const nonce = await this.world.provider.getTransactionCount(foreign.address);
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n, gasLimit: 3_000_000n };
    return foreign.signTransaction({ type: 2, chainId: this.world.chainId, nonce, to, data, ...fees });
  }

  /** Replaces the newest blocks. The chain takes no transaction of the relayer again. Blocks are mined automatically afterwards. */
  async reorganize({ after, add = [], keepDeposits = true }: Reorganization): Promise<void> {
    const { provider, depositor } = this.world;
    // Otherwise the relayer's next transaction could make another block in between.
    await this.automine(false);
    const head = await this.height();
    const removed = (await provider.getBlock(head))!.hash;
    const kept: string[] = [];
    for (let number = after + 1; number <= head; number += 1) {
      const { prefetchedTransactions } = (await provider.getBlock(number, true))!;
      for (const { from, hash } of prefetchedTransactions)
        if (keepDeposits && from === depositor.address)
          kept.push(String(await this.rpc("eth_getRawTransactionByHash", hash)));
    }
    const transactions = [...kept, ...add].map((transaction) => [transaction, 0]);
    await this.rpc("anvil_reorg", head - after, transactions);
    expect((await provider.getBlock(head))?.hash).to.not.equal(removed);
    await this.automine(true);
  }
}

let shared: Promise<Troubled> | undefined;

/** Opens the one that all test files share, with a note of 1,000,000 for each of `payments`. */
export async function openTroubled(payments: number): Promise<Troubled> {
  shared ??= Troubled.start();
  const troubled = await shared;
  await troubled.books.deposit(...Array.from({ length: payments }, () => 1_000_000n));
  return troubled;
}
