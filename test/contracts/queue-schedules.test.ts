import { slow } from "@sotto/test-kit/slow";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { appendTuple, PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import type { ContractTransactionResponse, Overrides } from "ethers";

/** Number of blocks in each schedule. */
const BLOCKS = process.env["SOTTO_LONG"] ? 1_500 : 40;

interface Planned {
  readonly accepted: boolean;
  readonly what: string;
  readonly send: (overrides: Overrides) => Promise<ContractTransactionResponse>;
}

/** Random transactions, several in each block and in blocks of the same time, and a model that predicts which succeed. */
class Schedule {
  readonly world: PoolWorld;
  #now = 0;
  /** Blocks that had the time of the block before. */
  shared = 0;
  refused = 0;
  full = 0;
  short = 0;

  constructor(world: PoolWorld) {
    this.world = world;
  }

  /** Mines one block of one to four random transactions and compares the contract with the model. */
  async block(): Promise<void> {
    const { random, deployed } = this.world;
    const { ethers, networkHelpers } = deployed.connection;
    const block = (await ethers.provider.getBlockNumber()) + 1;
    const passed = random.pick([0, 0, 0, 1, 12, 12, 60, 119, 120, 121, 400]);
    if (passed === 0) this.shared++;
    this.#now = (await this.world.now()) + passed;
    await networkHelpers.time.setNextBlockTimestamp(this.#now);
    const nonce = await deployed.signers[0]!.getNonce();
    await ethers.provider.send("evm_setAutomine", [false]);
    const sent: { plan: Planned; transaction: ContractTransactionResponse }[] = [];
    for (let count = random.between(1, 4); count > 0; count--) {
      const plan = await this.#plan();
      const transaction = await plan.send({ nonce: nonce + sent.length, gasLimit: 7_000_000 });
      sent.push({ plan, transaction });
    }
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    for (const { plan, transaction } of sent) {
      const receipt = await ethers.provider.getTransactionReceipt(transaction.hash);
      expect(receipt!.blockNumber).to.equal(block);
      expect(receipt!.status, `${plan.what} in block ${block}`).to.equal(plan.accepted ? 1 : 0);
      if (!plan.accepted) this.refused++;
    }
    await this.compare();
  }

  async #plan(): Promise<Planned> {
    const { random, queue } = this.world;
    if (queue.size > queue.appended && random.below(5) < 2) return this.#append();
    return random.below(3) === 0 ? this.#settle() : this.#deposit();
  }

  #push(leaves: readonly bigint[]): boolean {
    const { queue } = this.world;
    const accepted = queue.accepts(leaves.length, this.#now);
    if (accepted) queue.push(leaves, this.#now);
    else this.full++;
    return accepted;
  }

  #deposit(): Planned {
    const { random, queue, pool } = this.world;
    const tags = Array.from({ length: random.pick([1, 1, 1, 2, 2, 3, 5, 30, 66]) }, () => random.field());
    const amounts = tags.map(() => SMALLEST_DEPOSIT);
    const leaves = tags.map((tag, i) => this.world.depositCommitment(SMALLEST_DEPOSIT, tag, queue.size + i));
    const accepted = this.#push(leaves);
    return { what: `deposit of ${tags.length}`, accepted, send: (overrides) => pool.deposit(tags, amounts, overrides) };
  }

  async #settle(): Promise<Planned> {
    const { random, pool } = this.world;
    const validUntil = BigInt(this.#now + 100);
    const count = random.pick([1, 1, 1, 2, 3, 7, 33]);
    const payments = await Promise.all(Array.from({ length: count }, () => this.world.payment({ validUntil })));
    const accepted = this.#push(payments.flatMap(({ signals }) => signals.slice(7, 9)));
    const send = (overrides: Overrides) => pool.settle(settleArguments(payments), overrides);
    return { what: `settle of ${count}`, accepted, send };
  }

  #append(): Planned {
    const { random, queue, tree, pool } = this.world;
    const pending = queue.checkpoints().length;
    const count = random.pick([1, queue.shortest(), queue.longest(), random.between(1, pending)]);
    const accepted = count >= queue.shortest() && count <= queue.longest();
    if (count < queue.shortest()) this.short++;
    const what = `append of ${count} of ${pending} checkpoints`;
    const [newRoot, leaves, proof, sequence] = this.world.appendArguments(Math.min(count, queue.longest()));
    // More than 64 leaves cannot be proved. Any proof will do, because the contract rejects the count first.
    const call = count > queue.longest() ? queue.appendCall(count) : { leaves, sequence };
    const args = appendTuple([newRoot, call.leaves, proof, call.sequence]);
    if (accepted) tree.append(queue.consume(count));
    return { what, accepted, send: (overrides) => pool.append(...args, overrides) };
  }

  async compare(): Promise<void> {
    const { pool, queue, tree } = this.world;
    const state = await pool.queue();
    const pending = queue.checkpoints();
    const last = pending.at(-1);
    expect(state.size, "size").to.equal(BigInt(queue.size));
    expect(state.appended, "appended").to.equal(BigInt(queue.appended));
    expect(state.due, "due").to.equal(BigInt(queue.due));
    expect(state.lastAppended, "lastAppended").to.equal(queue.lastAppended);
    expect(state.newest, "newest").to.equal(last?.sequence ?? queue.lastAppended);
    expect(state.newestLeaves, "newestLeaves").to.equal(BigInt(last?.leaves.length ?? 0));
    expect(state.newestTime, "newestTime").to.equal(BigInt(last?.time ?? 0));
    expect(await pool.checkpoint(queue.lastAppended), "the tree's end").to.equal(queue.appendedChain);
    expect(await this.world.chain(), "chain").to.equal(queue.chain);
    const some = pending.length > 0 ? this.world.random.pick(pending) : undefined;
    if (some !== undefined) expect(await pool.checkpoint(some.sequence), "a checkpoint").to.equal(some.chain);
    expect(await pool.root(), "root").to.equal(tree.root);
  }

  /** After any history, appends of maximum length empty the queue, and each of them frees room. */
  async drain(): Promise<void> {
    while (this.world.queue.size > this.world.queue.appended) {
      await this.world.append();
      await this.compare();
      const payment = await this.world.payment();
      expect([...(await this.world.pool.settle.staticCall(settleArguments([payment])))]).to.deep.equal([0n]);
    }
  }
}

describe("the queue over random schedules", function () {
  slow(this, "transactions and proofs on a chain in this process");
  for (const ringSize of [2, 4, 4096]) {
    it(`agrees with its model and never blocks: ${BLOCKS} blocks, ring size ${ringSize}`, async () => {
      const world = await PoolWorld.create(`schedule ${ringSize}`, { ringSize, sharesTimes: true });
      await world.withRoot();
      const schedule = new Schedule(world);
      for (let i = 0; i < BLOCKS; i++) {
        await schedule.block();
        if (i % 25 === 24) await schedule.drain();
      }
      await schedule.drain();
      expect(schedule.refused, "at least one call must be rejected").to.be.greaterThan(0);
      expect(schedule.shared, "blocks that share a time").to.be.greaterThan(0);
      if (ringSize === 4096) expect(schedule.short, "appends that are too short").to.be.greaterThan(0);
      if (ringSize < 4096) {
        expect(schedule.full, "the ring was full").to.be.greaterThan(0);
        expect(world.queue.lastAppended, "the ring wrapped").to.be.greaterThan(BigInt(3 * ringSize));
      }
    });
  }
});
