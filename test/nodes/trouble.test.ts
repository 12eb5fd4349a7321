// What can go wrong with a chain and its nodes, on Anvil: after each trouble, every payment is settled exactly once and
// every balance is exact.

import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { accountOf, createWorld, type World } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { toQuantity } from "ethers";
import { Books } from "./support/audit.ts";

/** Base fee above the relayer's limit on what it pays, wei. */
const SPIKE = 10n ** 13n;
const relayer = accountOf(2);

interface Pool {
  readonly pending: Readonly<Record<string, Readonly<Record<string, { readonly hash: string }>>>>;
}

describe("a service on Anvil, in trouble,", function () {
  slow(this, "a deployment, a service and wallets");
  let world: World;
  let books: Books;
  /** The first of the service's two nodes. */
  let first: FaultyNode;
  before(async () => {
    const anvil = await startDeployedAnvil();
    first = await FaultyNode.start(anvil.url);
    world = await createWorld(anvil, {
      SOTTO_RPC_URLS: `${first.url},${anvil.url}`,
      SOTTO_RPC_TIMEOUT_MS: "2000",
    });
    books = await Books.open(world);
    await books.deposit(...Array.from({ length: 12 }, () => 1_000_000n));
  });
  after(async () => {
    await first?.stop();
  });
  afterEach(async () => {
    first.mode = "honest";
    await rpc("evm_setAutomine", true);
  });

  const rpc = (method: string, ...params: unknown[]): Promise<unknown> => world.provider.send(method, params);
  const mine = (blocks: number) => rpc("anvil_mine", toQuantity(blocks));
  /** Hashes of the relayer's unmined transactions. */
  const pending = async () => {
    const pool = (await rpc("txpool_content")) as Pool;
    const own = Object.entries(pool.pending).filter(
      ([address]) => address.toLowerCase() === relayer.address.toLowerCase(),
    );
    return own.flatMap(([, transactions]) => Object.values(transactions).map(({ hash }) => hash));
  };
  /** Waits until the relayer has sent a transaction that is not mined. */
  const sent = () => eventually(async () => (await pending())[0]);

  /** Replaces the newest blocks. The chain takes the depositor's transactions again, but not the relayer's. */
  async function reorganize(depth: number): Promise<void> {
    const head = await world.provider.getBlockNumber();
    const removed = (await world.provider.getBlock(head))!.hash;
    const kept: string[] = [];
    for (let number = head - depth + 1; number <= head; number += 1) {
      const { prefetchedTransactions } = (await world.provider.getBlock(number, true))!;
      for (const { from, hash } of prefetchedTransactions)
        if (from === world.depositor.address) kept.push(String(await rpc("eth_getRawTransactionByHash", hash)));
    }
    await rpc(
      "anvil_reorg",
      depth,
      kept.map((transaction) => [transaction, 0]),
    );
    expect((await world.provider.getBlock(head))?.hash).to.not.equal(removed);
  }

  for (const depth of inLongRun([1, 10], [3, 64]))
    it(`settles again what a reorganization of ${depth} blocks removed, with a deposit and its append`, async () => {
      const height = await world.provider.getBlockNumber();
      await books.deposit(1_000_000n);
      await books.pay(100_000n + BigInt(depth));
      const made = (await world.provider.getBlockNumber()) - height;
      await mine(Math.max(0, depth - made));
      await reorganize(depth);
      await mine(2);
      await books.audit();
    });

  it("settles again after the node was rolled back to an older state", async () => {
    const snapshot = await rpc("evm_snapshot");
    await books.pay(100_004n);
    await mine(3);
    await rpc("evm_revert", snapshot);
    await mine(1);
    await books.audit();
  });

  it("settles payments that were made while no block was mined", async () => {
    await rpc("evm_setAutomine", false);
    const settled = [(await books.verified(100_005n))(), (await books.verified(100_006n))()];
    await sent();
    await rpc("evm_setAutomine", true);
    await mine(1);
    await Promise.all(settled);
    await books.audit();
  });

  for (const seconds of inLongRun([1], [12]))
    it(`settles payments with a block every ${seconds} s`, async () => {
      await rpc("evm_setAutomine", false);
      await rpc("evm_setIntervalMining", seconds);
      const settle = [await books.verified(100_007n), await books.verified(100_008n)];
      await Promise.all(settle.map((send) => send()));
      await rpc("evm_setIntervalMining", 0);
      await rpc("evm_setAutomine", true);
      await books.audit();
    });

  it("settles a payment whose transaction the node dropped", async () => {
    await rpc("evm_setAutomine", false);
    const settled = (await books.verified(100_000n))();
    const hash = await sent();
    await rpc("anvil_dropTransaction", hash);
    await rpc("evm_setAutomine", true);
    await settled;
    await books.audit();
  });

  it("settles a payment after a spike of the base fee", async () => {
    await rpc("evm_setAutomine", false);
    const settled = (await books.verified(100_001n))();
    await sent();
    await rpc("anvil_setNextBlockBaseFeePerGas", toQuantity(SPIKE));
    await mine(1);
    await rpc("anvil_setNextBlockBaseFeePerGas", toQuantity(10n ** 9n));
    await mine(1);
    await rpc("evm_setAutomine", true);
    await settled;
    await books.audit();
  });

  it("settles a payment under another nonce after another program used the relayer's key", async () => {
    await rpc("evm_setAutomine", false);
    const settled = (await books.verified(100_002n))();
    await sent();
    const nonce = await world.provider.getTransactionCount(relayer.address);
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    const signer = relayer.connect(world.provider);
    await signer.sendTransaction({ to: relayer.address, nonce, ...fees });
    await mine(1);
    await rpc("evm_setAutomine", true);
    await settled;
    await books.audit();
  });

  for (const mode of inLongRun(
    ["limitsRequests", "talksNonsense", "truncates", "isBehind"] as const,
    ["isOverloaded", "hangs", "breaksOff", "swallowsTransactions", "hasOnlyNewState"] as const,
  ))
    it(`settles a payment while the first node ${mode}`, async () => {
      first.mode = mode;
      await books.pay(100_003n);
      first.mode = "honest";
      await books.audit();
    });
});
