// The appender against the contract: blocks with random numbers of leaves, many of them with the time of the block before.

import { NewestCheckpoint, poolViews, proveAppend } from "@sotto/chain";
import { appendCall, ethersChain } from "@sotto/chain/ethers";
import { parseAddress } from "@sotto/protocol";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { slow } from "@sotto/test-kit/slow";
import { forgingProver } from "@sotto/test-pool/append";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";

const BLOCKS = fuzzSize(60, 2_000);

describe("an append that is proved on the contract's state", function () {
  slow(this, "transactions on a chain in this process");

  it(`ends at the last final checkpoint, and is mined after later blocks of any time: ${BLOCKS} blocks`, async () => {
    const world = await PoolWorld.create("append ends", { sharesTimes: true });
    const { random, queue, pool, deployed } = world;
    const { ethers, networkHelpers } = deployed.connection;
    // The clock never advances, and no block is pending, so only the contract decides what is final.
    const chain = { ...ethersChain(ethers.provider), pending: async () => undefined };
    const newest = new NewestCheckpoint(() => 0);
    const address = parseAddress(deployed.poolAddress.toLowerCase());
    const leaves: bigint[] = [];
    const deposit = async () => {
      const passed = random.pick([0, 0, 1, 12]);
      await networkHelpers.time.setNextBlockTimestamp((await world.now()) + passed);
      const tags = Array.from({ length: random.pick([1, 1, 2, 7, 20, 33]) }, () => random.field());
      const first = queue.size;
      leaves.push(...tags.map((tag, i) => world.depositCommitment(SMALLEST_DEPOSIT, tag, first + i)));
      const amounts = tags.map(() => SMALLEST_DEPOSIT);
      await world.mined(pool.deposit(tags, amounts, { gasLimit: 8_000_000 }));
    };
    let [appends, growing] = [0, 0];
    for (let blocks = 0; blocks < BLOCKS; blocks++) {
      await deposit();
      const block = await chain.head();
      const state = await poolViews(chain, address).queue(block.number);
      const proved = await proveAppend({
        ...world.deployment,
        pool: address,
        chain,
        block,
        queue: state,
        newest,
        leaves: leaves.slice(queue.appended),
        tree: () => world.tree,
        prover: forgingProver,
      });
      // By the model, all checkpoints are final but the newest, unless it is full.
      const all = queue.checkpoints();
      const final = all.filter(({ leaves: { length } }, i) => i < all.length - 1 || length === 32);
      const end = final.findLast(({ count }) => count <= queue.appended + 64);
      const isLong = end !== undefined && (end.count >= queue.due || end.count - queue.appended > 32);
      expect(proved?.end.lastAppended).to.equal(isLong ? Number(end.sequence) : undefined);
      if (proved === undefined || !isLong) {
        growing++;
        continue;
      }
      expect([proved.end.appended, proved.chain]).to.deep.equal([end.count, end.chain]);
      await deposit();
      const { data } = appendCall(address, proved.append);
      const sent = await deployed.signers[3]!.sendTransaction({ to: address, data, gasLimit: 1_000_000 });
      expect((await sent.wait())!.status).to.equal(1);
      world.tree.append(queue.consume(all.indexOf(end) + 1));
      expect(await pool.root()).to.equal(world.tree.root);
      appends++;
    }
    expect(Math.min(appends, growing), "both outcomes").to.be.greaterThan(0);
  });
});
