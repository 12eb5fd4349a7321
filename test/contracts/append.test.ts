import { appendChallenge, evaluateAppend, FIELD_MODULUS } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { proveWithTrapdoor } from "../../scripts/setup/trapdoor.ts";
import { SMALLEST_DEPOSIT } from "./support/deploy.ts";
import { type AppendArguments, appendTuple, PoolWorld, settleArguments } from "./support/pool-world.ts";

describe("append", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  const refused = (args: AppendArguments) => expect(world.pool.append.staticCall(...appendTuple(args))).to.be;
  const notes = (count: number) => Array.from({ length: count }, () => SMALLEST_DEPOSIT);
  const sleep = (seconds: number) => world.deployed.connection.networkHelpers.time.increase(seconds);
  const agrees = async () => {
    const state = await world.pool.queue();
    expect([state.size, state.appended]).to.deep.equal([BigInt(world.queue.size), BigInt(world.queue.appended)]);
    expect(await world.pool.root()).to.equal(world.tree.root);
    expect(state.appendedChain).to.equal(world.queue.appendedChain);
    expect(state.firstPending).to.equal(world.queue.firstPending);
  };

  beforeEach(async () => {
    world = await PoolWorld.create("append");
  });

  it("starts with the empty tree, whose root is not a known root", async () => {
    expect(await world.pool.root()).to.equal(world.tree.root);
    expect(await world.pool.EMPTY_ROOT()).to.equal(world.tree.root);
    expect(await world.pool.isKnownRoot(world.tree.root)).to.equal(false);
    expect(await world.pool.MAX_LEAVES()).to.equal(8n ** 10n);
    expect(await world.pool.ringSize()).to.equal(4096n);
    const zeros = { sequence: 0n, chain: `0x${"00".repeat(32)}`, count: 0n, timestamp: 0n };
    await refused([1n, [], Array(8).fill("0"), zeros, zeros]).revertedWithCustomError(world.pool, "InvalidLeafCount");
  });

  it("lets anyone move leaves into the tree, starting inside partly filled subtrees", async () => {
    for (const count of [1, 5, 9, 3, 2]) {
      await world.deposit(notes(count));
      const stranger = world.deployed.signers[9]!;
      const args = appendTuple(world.appendArguments());
      const [start, root] = [world.queue.appended, args[0]];
      const call = world.pool.connect(stranger).append(...args);
      await expect(call).to.emit(world.pool, "Appended").withArgs(root, start, count);
      world.tree.append(world.queue.consume(1));
      await agrees();
      expect(await world.pool.isKnownRoot(world.tree.root)).to.equal(true);
    }
  });

  it("closes a checkpoint at 64 leaves and puts further leaves of the same call into the next one", async () => {
    await world.deposit(notes(130));
    expect(world.queue.groups().map(({ leaves }) => leaves.length)).to.deep.equal([64, 64, 2]);
    const state = await world.pool.queue();
    expect([state.open, state.openLeaves]).to.deep.equal([2n, 2n]);
    for (const [sequence, { end }] of world.queue.groups().entries()) {
      const { ethers } = world.deployed.connection;
      const words = ethers.AbiCoder.defaultAbiCoder().encode(
        ["bytes32", "uint256", "uint256"],
        [end.chain, end.count, end.timestamp],
      );
      expect(await world.pool.checkpoint(sequence)).to.equal(ethers.keccak256(words));
    }
    for (let i = 0; i < 3; i++) {
      await world.append();
      await agrees();
    }
    await expect(world.pool.checkpoint(2)).to.be.revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(2n);
  });

  it("queues more than 64 leaves in one settle call", async () => {
    await world.withRoot();
    const payments = await Promise.all(Array.from({ length: 40 }, () => world.payment()));
    await world.settle(...payments);
    expect(world.queue.groups().map(({ leaves }) => leaves.length)).to.deep.equal([64, 16]);
    await world.append();
    await world.append();
    await agrees();
  });

  it("accepts an append that was proved before further payments arrived", async () => {
    await world.withRoot();
    await world.settle(await world.payment());
    const args = world.appendArguments(1);
    for (let i = 0; i < 3; i++) await world.settle(await world.payment());
    await sleep(100);
    await world.pool.append(...appendTuple(args));
    world.tree.append(world.queue.consume(1));
    await agrees();
    await world.append(3);
    await agrees();
  });

  it("handles a block that contains a settle call, an append and another settle call", async () => {
    await world.withRoot();
    const [first, second] = [await world.payment(), await world.payment()];
    const { ethers, networkHelpers } = world.deployed.connection;
    const options = { gasLimit: 2_000_000 };
    await world.settle(await world.payment());
    // The append is built from the state after the previous block, so it moves the leaves queued by then, not the first
    // payment's.
    const args = appendTuple(world.appendArguments(1));
    const nonce = await world.deployed.signers[0]!.getNonce();
    await ethers.provider.send("evm_setAutomine", [false]);
    const settled = await world.pool.settle(settleArguments([first]), { ...options, nonce });
    const appended = await world.pool.append(...args, { ...options, nonce: nonce + 1 });
    const again = await world.pool.settle(settleArguments([second]), { ...options, nonce: nonce + 2 });
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    const blocks = [await settled.wait(), await appended.wait(), await again.wait()].map(
      (receipt) => receipt!.blockNumber,
    );
    expect(new Set(blocks).size).to.equal(1);
    await world.mined(Promise.resolve(settled));
    world.tree.append(world.queue.consume(1));
    await world.mined(Promise.resolve(again));
    await agrees();
    expect(world.queue.groups()).to.have.length(1);
    await world.append(1);
    await agrees();
  });

  it("appends the open checkpoint in its own block and opens a new checkpoint for later leaves", async () => {
    const { ethers, networkHelpers } = world.deployed.connection;
    const timestamp = (await world.now()) + 10;
    const nonce = await world.deployed.signers[0]!.getNonce();
    const options = { gasLimit: 3_000_000 };
    const block = (await ethers.provider.getBlockNumber()) + 1;
    const tags = [world.random.field(), world.random.field(), world.random.field()];
    const leaves = tags.map((tag, i) => world.depositCommitment(SMALLEST_DEPOSIT, tag, i));
    world.queue.push(leaves.slice(0, 2), block, timestamp);
    const args = appendTuple(world.appendArguments(1));
    world.tree.append(world.queue.consume(1));
    await networkHelpers.time.setNextBlockTimestamp(timestamp);
    await ethers.provider.send("evm_setAutomine", [false]);
    await world.pool.deposit(tags.slice(0, 2), notes(2), { ...options, nonce });
    await world.pool.append(...args, { ...options, nonce: nonce + 1 });
    const after = await world.pool.deposit(tags.slice(2), notes(1), { ...options, nonce: nonce + 2 });
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    expect((await after.wait())!.blockNumber).to.equal(block);
    await world.mined(Promise.resolve(after));
    await agrees();
    expect((await world.pool.queue()).open).to.equal(1n);
    await world.append(1);
    await agrees();
  });

  describe("rejects", () => {
    beforeEach(async () => {
      await world.deposit(notes(3));
      await world.deposit(notes(2));
      await world.deposit(notes(4));
    });

    it("the second of two appends of the same leaves", async () => {
      const [short, long] = [world.appendArguments(1), world.appendArguments(2)];
      await world.pool.append(...appendTuple(long));
      world.tree.append(world.queue.consume(2));
      await refused(long).revertedWithCustomError(world.pool, "InvalidLeafCount");
      await refused(short).revertedWithCustomError(world.pool, "InvalidLeafCount");
      await agrees();
      await world.append(1);
      await agrees();
    });

    it("a longer append after a shorter one, because their proofs have different start indices", async () => {
      const long = world.appendArguments(2);
      await world.append(1);
      await refused(long).revertedWithCustomError(world.pool, "InvalidLeafCount");
      const [newRoot, leaves, proof, end, next] = long;
      const rest: AppendArguments = [newRoot, leaves.slice(3), proof, end, next];
      await refused(rest).revertedWithCustomError(world.pool, "InvalidAppendProof");
    });

    it("too many, too few and no leaves", async () => {
      const [newRoot, leaves, proof, end, next] = world.appendArguments(2);
      const attempt = (list: readonly bigint[]) => refused([newRoot, list, proof, end, next]);
      await attempt(leaves.slice(0, 4)).revertedWithCustomError(world.pool, "InvalidLeafCount").withArgs(5n, 4n);
      await attempt([...leaves, 1n])
        .revertedWithCustomError(world.pool, "InvalidLeafCount")
        .withArgs(5n, 6n);
      await attempt([]).revertedWithCustomError(world.pool, "InvalidLeafCount").withArgs(5n, 0n);
      const short: AppendArguments = [newRoot, leaves.slice(0, 4), proof, { ...end, count: 4n }, next];
      await refused(short).revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(1n);
    });

    it("more than 64 leaves at once", async () => {
      await world.deposit(notes(64));
      const groups = world.queue.groups();
      expect(groups).to.have.length(4);
      const leaves = groups.flatMap((group) => group.leaves);
      const proof = world.appendArguments(1)[2];
      const call: AppendArguments = [1n, leaves, proof, groups.at(-1)!.end, groups[0]!.end];
      await refused(call).revertedWithCustomError(world.pool, "InvalidLeafCount").withArgs(73n, 73n);
    });

    it("leaves other than the queued ones: changed, swapped, aliased, zero, or from a later index", async () => {
      const [newRoot, leaves, , end, next] = world.appendArguments(2);
      const wrong = [
        leaves.with(2, leaves[2]! + 1n),
        [leaves[1]!, leaves[0]!, ...leaves.slice(2)],
        leaves.with(0, leaves[0]! + FIELD_MODULUS),
        leaves.with(4, 0n),
        world.queue.appendCall(3).leaves.slice(4),
      ];
      for (const list of wrong) {
        const proved = list.every((leaf) => leaf > 0n && leaf < FIELD_MODULUS)
          ? world.appendArguments(2, { leaves: list })
          : world.appendArguments(2);
        const call: AppendArguments = [newRoot, list, proved[2], end, next];
        await refused(call).revertedWithCustomError(world.pool, "LeavesMismatch");
      }
    });

    it("a proof of another tree, index or leaves, and one for a challenge that the prover chose", async () => {
      const [newRoot, leaves, , end, next] = world.appendArguments(2);
      const proved = (signals: readonly bigint[]): AppendArguments => {
        const { proof } = proveWithTrapdoor("note_append", signals);
        return [newRoot, leaves, proof, end, next];
      };
      const statement = { ...world.deployment, oldRoot: world.tree.root, newRoot, startIndex: 0, leaves };
      const challenge = appendChallenge(statement);
      const y = evaluateAppend(challenge, statement);
      await world.pool.append.staticCall(...appendTuple(proved([newRoot, challenge, y])));
      for (const other of [
        { oldRoot: 1n },
        { startIndex: 1 },
        { leaves: leaves.slice(1) },
        { leaves: leaves.toReversed() },
      ]) {
        const evaluation = evaluateAppend(challenge, { ...statement, ...other });
        await refused(proved([newRoot, challenge, evaluation])).revertedWithCustomError(
          world.pool,
          "InvalidAppendProof",
        );
      }
      // At a chosen point, true or not, and with the signals in another order.
      const chosen = [0n, 1n, appendChallenge({ ...statement, newRoot: 1n })];
      for (const z of chosen)
        await refused(proved([newRoot, z, evaluateAppend(z, statement)])).revertedWithCustomError(
          world.pool,
          "InvalidAppendProof",
        );
      for (const signals of [
        [1n, challenge, y],
        [challenge, newRoot, y],
      ])
        await refused(proved(signals)).revertedWithCustomError(world.pool, "InvalidAppendProof");
    });

    it("an end that is not a checkpoint, and a checkpoint with other values", async () => {
      const [newRoot, leaves, proof, end, next] = world.appendArguments(2);
      const words = [
        { ...end, timestamp: end.timestamp + 1n },
        { ...end, sequence: 0n },
        { ...end, sequence: 2n },
        { ...end, sequence: 3n },
        { ...end, sequence: 2n ** 32n + 1n },
        { ...end, chain: next.chain },
      ];
      for (const point of words) {
        const call: AppendArguments = [newRoot, leaves, proof, point, next];
        await refused(call).revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(point.sequence);
      }
    });

    it("a root other than the proved one, an aliased root, and a root for another tree", async () => {
      const [newRoot, leaves, proof, end, next] = world.appendArguments(2);
      await refused([newRoot + 1n, leaves, proof, end, next]).revertedWithCustomError(world.pool, "InvalidAppendProof");
      const alias: AppendArguments = [newRoot + FIELD_MODULUS, leaves, proof, end, next];
      await refused(alias)
        .revertedWithCustomError(world.pool, "InvalidRoot")
        .withArgs(newRoot + FIELD_MODULUS);
      for (let i = 0; i < 8; i++) {
        const bent = proof.with(i, String(BigInt(proof[i]!) + 1n));
        await refused([newRoot, leaves, bent, end, next]).revertedWithCustomError(world.pool, "InvalidAppendProof");
      }
    });

    it("a proof of another circuit, another pool or another chain", async () => {
      const args = world.appendArguments(2);
      const payment = await world.payment();
      const foreign: AppendArguments = [args[0], args[1], payment.proof, args[3], args[4]];
      await refused(foreign).revertedWithCustomError(world.pool, "InvalidAppendProof");
      const other = await PoolWorld.create("append", { chainId: 1337 });
      for (const count of [3, 2, 4]) await other.deposit(notes(count));
      const [newRoot, leaves, , end, next] = args;
      const moved = other.appendArguments(2, { leaves, newRoot })[2];
      await refused([newRoot, leaves, moved, end, next]).revertedWithCustomError(world.pool, "InvalidAppendProof");
    });
  });

  describe("checkpoints older than 120 s", () => {
    it("rejects an append that leaves out an old checkpoint, closed or open", async () => {
      for (let i = 0; i < 3; i++) await world.deposit(notes(2));
      const [one, two, three] = [1, 2, 3].map((count) => world.appendArguments(count));
      const { time } = world.deployed.connection.networkHelpers;
      await time.increaseTo(one![4].timestamp + 120n);
      await world.pool.append.staticCall(...appendTuple(one!));
      await time.increaseTo(two![4].timestamp + 121n);
      await refused(one!).revertedWithCustomError(world.pool, "AppendTooShort").withArgs(1n, one![4].timestamp);
      await refused(two!).revertedWithCustomError(world.pool, "AppendTooShort").withArgs(2n, two![4].timestamp);
      await world.pool.append.staticCall(...appendTuple(three!));
    });

    it("accepts an append of 64 leaves even if older checkpoints remain", async () => {
      await world.deposit(notes(60));
      await world.deposit(notes(4));
      await world.deposit(notes(1));
      const [one, two] = [world.appendArguments(1), world.appendArguments(2)];
      await sleep(1000);
      await refused(one).revertedWithCustomError(world.pool, "AppendTooShort");
      await world.pool.append(...appendTuple(two));
      world.tree.append(world.queue.consume(2));
      await agrees();
    });

    it("requires the next checkpoint only if the append ends at an old one, and checks its values", async () => {
      for (let i = 0; i < 3; i++) await world.deposit(notes(2));
      const [newRoot, leaves, proof, end, next] = world.appendArguments(1);
      const blank = { ...next, chain: end.chain, sequence: 0n };
      await world.pool.append.staticCall(...appendTuple([newRoot, leaves, proof, end, blank]));
      await sleep(121);
      const young = { ...next, timestamp: next.timestamp + 500n };
      for (const point of [blank, young, { ...next, sequence: 2n }, { ...next, count: 99n }, end]) {
        const call: AppendArguments = [newRoot, leaves, proof, end, point];
        await refused(call).revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(point.sequence);
      }
      // The pool accepts an append of fewer than 64 leaves that ends at an old checkpoint, because the next one is
      // recent.
      await world.append(3);
      await world.deposit(notes(1));
      await sleep(121);
      await world.deposit(notes(1));
      await world.append(1);
      await agrees();
    });
  });
});
