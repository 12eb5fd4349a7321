import { delay } from "@sotto/chain";
import { appendCall, poolInterface } from "@sotto/chain/ethers";
import { NoteTree } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, NoteAppender } from "@sotto/wallet";
import { expect } from "chai";
import { World } from "./support/world.ts";

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

  it("waits while blocks of the newest time can add leaves, and then appends those too", async () => {
    const world = new World();
    const wallet = await world.wallet();
    // The node reports no pending block, as some do.
    world.chain.tellsTime = false;
    await world.deposit(wallet, [1_000n]);
    const appender = await open(world);
    const prepared = appender.prepare();
    while (appender.queued === 0) await delay(10);
    world.chain.time -= 12;
    await world.deposit(wallet, [2_000n]);
    expect(world.chain.blocks.at(-1)!.timestamp).to.equal(world.chain.blocks.at(-2)!.timestamp);
    while (appender.queued === 1) await delay(10);
    expect(world.prover.asked).to.not.include("note_append");
    world.chain.mine();
    const { append, count } = await prepared;
    expect(count).to.equal(2);
    world.chain.mine(appendCall(POOL, append));
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(3_000n);
    expect(world.prover.asked.filter((circuit) => circuit === "note_append")).to.have.length(1);
  });

  it("does not wait for the newest leaves if those before them can be appended", async () => {
    const world = new World();
    const wallet = await world.wallet();
    world.chain.tellsTime = false;
    await world.deposit(wallet, [1_000n]);
    await world.deposit(wallet, [2_000n]);
    const { append, count, left } = await (await open(world)).prepare();
    expect([count, left]).to.deep.equal([1, 1]);
    // A block of the same time adds a leaf to the checkpoint that was left.
    world.chain.time -= 12;
    await world.deposit(wallet, [4_000n]);
    world.chain.mine(appendCall(POOL, append));
    await wallet.scan();
    expect(wallet.balance()).to.include({ spendable: 1_000n });
  });

  it("appends on a chain that mines no further block and reports none", async () => {
    const world = new World();
    const wallet = await world.wallet();
    world.chain.tellsTime = false;
    await world.deposit(wallet, [1_000n]);
    await world.append();
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(1_000n);
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
