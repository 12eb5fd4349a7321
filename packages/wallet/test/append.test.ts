import { appendCall, poolInterface } from "@sotto/chain/ethers";
import { appendEnd, NoteTree, pendingCheckpoints } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, NoteAppender } from "@sotto/wallet";
import { expect } from "chai";
import { World } from "./support/world.ts";

const START = { appended: 10, lastAppended: 4 };

/** A queue with the leaves 1, 2, 3 ..; `runs` gives the number of leaves in each block. */
function queueOf(runs: [block: number, leaves: number][]) {
  let leaf = 0n;
  return runs.flatMap(([blockNumber, count]) =>
    Array.from({ length: count }, () => {
      leaf += 1n;
      return { leaf, blockNumber };
    }),
  );
}

describe("pending checkpoints", () => {
  const counts = (runs: [number, number][]) =>
    pendingCheckpoints(START, queueOf(runs)).map(({ sequence, count }) => [sequence, count]);

  it("are placed at each block change and after 32 leaves", () => {
    expect(counts([])).to.deep.equal([]);
    expect(counts([[7, 2]])).to.deep.equal([[5, 12]]);
    expect(
      counts([
        [7, 2],
        [8, 3],
        [9, 1],
      ]),
    ).to.deep.equal([
      [5, 12],
      [6, 15],
      [7, 16],
    ]);
    expect(
      counts([
        [7, 32],
        [8, 33],
        [9, 65],
      ]),
    ).to.deep.equal([
      [5, 42],
      [6, 74],
      [7, 75],
      [8, 107],
      [9, 139],
      [10, 140],
    ]);
  });

  it("end an append at the last checkpoint within 64 leaves", () => {
    const end = (...runs: [number, number][]) => appendEnd(START, pendingCheckpoints(START, queueOf(runs)))?.count;
    expect(end()).to.equal(undefined);
    expect(end([7, 3])).to.equal(13);
    expect(end([7, 60], [8, 4])).to.equal(74);
    expect(end([7, 60], [8, 5])).to.equal(70);
    expect(end([7, 200])).to.equal(74);
  });
});

describe("note appender", () => {
  const open = (world: World, store = new MemoryStore()) =>
    NoteAppender.open({ ...world.options(), store, prover: world.prover });

  it("lets any caller append the queue to the tree in batches of 64 leaves", async () => {
    const world = new World();
    const [wallet, appender] = [await world.wallet(), await open(world)];
    expect((await rejection(appender.prepare())).code).to.equal("QUEUE_EMPTY");
    await world.deposit(wallet, Array(50).fill(1_000n));
    await world.deposit(wallet, Array(50).fill(1_000n));
    await world.deposit(wallet, [1_000n]);
    const sizes: number[] = [];
    for (let left = 1; left > 0; ) {
      const prepared = await appender.prepare();
      sizes.push(prepared.count);
      left = prepared.left;
      world.chain.mine(appendCall(POOL, prepared.append));
    }
    // The checkpoints have 32, 18, 32, 18 and 1 leaves. The first three together would exceed 64.
    expect(sizes).to.deep.equal([50, 51]);
    await appender.scan();
    expect(appender.queued).to.equal(0);
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(101_000n);
  });

  it("resumes where it stopped, also after a reorganization", async () => {
    const world = new World();
    const store = new MemoryStore();
    const wallet = await world.wallet();
    await world.deposit(wallet, [1_000n, 2_000n]);
    const appender = await open(world, store);
    world.chain.mine(appendCall(POOL, (await appender.prepare()).append));
    await appender.scan();
    world.chain.takeBack(2);
    await world.deposit(wallet, [3_000n]);
    const reopened = await open(world, store);
    const { append, count } = await reopened.prepare();
    expect(count).to.equal(1);
    world.chain.mine(appendCall(POOL, append));
    expect(BigInt(append.newRoot)).to.equal(new NoteTree([BigInt(append.leaves[0]!)]).root);
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(3_000n);
  });

  it("rejects a queue that differs from the events", async () => {
    const world = new World();
    const wallet = await world.wallet();
    await world.deposit(wallet, [1_000n]);
    await world.append();
    await world.deposit(wallet, [2_000n]);
    const original = world.chain.call.bind(world.chain);
    const appender = await open(world);
    const { selector } = poolInterface.getFunction("queue")!;
    // The queue as seen by a node that is one append behind.
    const stale = poolInterface.encodeFunctionResult("queue", [[2, 0, 0, 0, 0, 0, 0]]);
    world.chain.call = (call, block) => (call.data === selector ? Promise.resolve(stale) : original(call, block));
    expect((await rejection(appender.prepare())).code).to.equal("NODE_INCONSISTENT");
  });

  it("rejects a proof of a different statement", async () => {
    const world = new World();
    await world.deposit(await world.wallet(), [1_000n]);
    const prover = {
      artifacts: world.prover.artifacts,
      prove: async () => ({ proof: [], publicSignals: ["1"] }),
    };
    const appender = await NoteAppender.open({ ...world.options(), store: new MemoryStore(), prover });
    expect((await rejection(appender.prepare())).code).to.equal("PROOF_MISMATCH");
  });
});
