import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { appendChallenge, evaluateAppend, FIELD_MODULUS } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { type AppendArguments, appendTuple, PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";

describe("append", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  const refused = (args: AppendArguments) => expect(world.pool.append.staticCall(...appendTuple(args))).to.be;
  const notes = (count: number) => Array.from({ length: count }, () => SMALLEST_DEPOSIT);
  const agrees = async () => {
    const state = await world.pool.queue();
    expect([state.size, state.appended]).to.deep.equal([BigInt(world.queue.size), BigInt(world.queue.appended)]);
    expect(await world.pool.root()).to.equal(world.tree.root);
    expect([state.lastAppended, state.due]).to.deep.equal([world.queue.lastAppended, BigInt(world.queue.due)]);
    expect(await world.pool.checkpoint(state.lastAppended)).to.equal(world.queue.appendedChain);
    expect(await world.chain()).to.equal(world.queue.chain);
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
    expect([...(await world.pool.queue())]).to.deep.equal([0n, 0n, 0n, 0n, 0n, 0n, 0n]);
    expect(await world.pool.checkpoint(0)).to.equal(`0x${"00".repeat(32)}`);
    const proof = Array(8).fill("0");
    await refused([1n, [], proof, 0n]).revertedWithCustomError(world.pool, "InvalidLeafCount").withArgs(0n);
    for (const sequence of [0n, 1n])
      await refused([1n, [1n], proof, sequence])
        .revertedWithCustomError(world.pool, "UnknownCheckpoint")
        .withArgs(sequence);
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

  it("begins a checkpoint after 32 leaves, also within one call", async () => {
    await world.deposit(notes(67));
    const checkpoints = world.queue.checkpoints();
    expect(checkpoints.map(({ leaves }) => leaves.length)).to.deep.equal([32, 32, 3]);
    const state = await world.pool.queue();
    expect([state.newest, state.newestLeaves]).to.deep.equal([3n, 3n]);
    for (const { sequence, chain } of checkpoints) expect(await world.pool.checkpoint(sequence)).to.equal(chain);
    for (let i = 0; i < 2; i++) {
      await world.append();
      await agrees();
    }
    expect(await world.pool.checkpoint(3n)).to.equal(checkpoints[2]!.chain);
    for (const sequence of [2n, 4n])
      await expect(world.pool.checkpoint(sequence))
        .to.be.revertedWithCustomError(world.pool, "UnknownCheckpoint")
        .withArgs(sequence);
  });

  it("fills a checkpoint to 32 leaves with several calls of one block", async () => {
    const { ethers, networkHelpers } = world.deployed.connection;
    const nonce = await world.deployed.signers[0]!.getNonce();
    await ethers.provider.send("evm_setAutomine", [false]);
    const sent = await Promise.all(
      [31, 1, 1].map((count, i) =>
        world.pool.deposit(
          notes(count).map(() => world.random.field()),
          notes(count),
          { gasLimit: 3_000_000, nonce: nonce + i },
        ),
      ),
    );
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    for (const transaction of sent) await world.mined(Promise.resolve(transaction));
    expect(world.queue.checkpoints().map(({ leaves }) => leaves.length)).to.deep.equal([32, 1]);
    await agrees();
    await world.append(1);
    await world.append(1);
    await agrees();
  });

  it("queues more than 32 leaves in one settle call", async () => {
    await world.withRoot();
    const payments = await Promise.all(Array.from({ length: 40 }, () => world.payment()));
    await world.settle(...payments);
    expect(world.queue.checkpoints().map(({ leaves }) => leaves.length)).to.deep.equal([32, 32, 16]);
    await world.append();
    await world.append();
    await agrees();
  });

  it("accepts an append that was proved before further payments arrived", async () => {
    await world.withRoot();
    await world.settle(await world.payment());
    const args = world.appendArguments(1);
    for (let i = 0; i < 3; i++) await world.settle(await world.payment());
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
    expect(world.queue.checkpoints()).to.have.length(1);
    await world.append(1);
    await agrees();
  });

  it("appends the newest checkpoint in its own block and begins a new one for later leaves", async () => {
    const { ethers, networkHelpers } = world.deployed.connection;
    const nonce = await world.deployed.signers[0]!.getNonce();
    const options = { gasLimit: 3_000_000 };
    const time = (await world.now()) + 12;
    await networkHelpers.time.setNextBlockTimestamp(time);
    const tags = [world.random.field(), world.random.field(), world.random.field()];
    const leaves = tags.map((tag, i) => world.depositCommitment(SMALLEST_DEPOSIT, tag, i));
    world.queue.push(leaves.slice(0, 2), time);
    const args = appendTuple(world.appendArguments(1));
    world.tree.append(world.queue.consume(1));
    await ethers.provider.send("evm_setAutomine", [false]);
    await world.pool.deposit(tags.slice(0, 2), notes(2), { ...options, nonce });
    await world.pool.append(...args, { ...options, nonce: nonce + 1 });
    const after = await world.pool.deposit(tags.slice(2), notes(1), { ...options, nonce: nonce + 2 });
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    expect(await world.now()).to.equal(time);
    await world.mined(Promise.resolve(after));
    await agrees();
    expect((await world.pool.queue()).newest).to.equal(2n);
    await world.append(1);
    await agrees();
  });

  it("rejects an append that ends in a checkpoint to which its block adds leaves first, and leaves it appendable", async () => {
    const { ethers, networkHelpers } = world.deployed.connection;
    const nonce = await world.deployed.signers[0]!.getNonce();
    const options = { gasLimit: 3_000_000 };
    const time = (await world.now()) + 12;
    await networkHelpers.time.setNextBlockTimestamp(time);
    const tags = [world.random.field(), world.random.field(), world.random.field()];
    world.queue.push(
      tags.slice(0, 2).map((tag, i) => world.depositCommitment(SMALLEST_DEPOSIT, tag, i)),
      time,
    );
    const args = world.appendArguments(1);
    await ethers.provider.send("evm_setAutomine", [false]);
    await world.pool.deposit(tags.slice(0, 2), notes(2), { ...options, nonce });
    const more = await world.pool.deposit(tags.slice(2), notes(1), { ...options, nonce: nonce + 1 });
    const stale = await world.pool.append(...appendTuple(args), { ...options, nonce: nonce + 2 });
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    expect((await ethers.provider.getTransactionReceipt(stale.hash))!.status).to.equal(0);
    await refused(args).revertedWithCustomError(world.pool, "LeavesMismatch");
    await world.mined(Promise.resolve(more));
    expect(world.queue.checkpoints().map(({ leaves }) => leaves.length)).to.deep.equal([3]);
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
      await refused(long).revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(2n);
      await refused(short).revertedWithCustomError(world.pool, "UnknownCheckpoint").withArgs(1n);
      await agrees();
      await world.append(1);
      await agrees();
    });

    it("a longer append after a shorter one, because their proofs have different start indices", async () => {
      const long = world.appendArguments(2);
      await world.append(1);
      const [newRoot, leaves, proof] = long;
      const all = world.appendArguments(2);
      const prefixed: AppendArguments = [all[0], [...leaves.slice(0, 3), ...all[1]], all[2], all[3]];
      await refused(prefixed).revertedWithCustomError(world.pool, "LeavesMismatch");
      const rest: AppendArguments = [newRoot, all[1], proof, all[3]];
      await refused(rest).revertedWithCustomError(world.pool, "InvalidAppendProof");
    });

    it("no leaves and more than 64", async () => {
      await world.deposit(notes(64));
      const [newRoot, leaves, proof] = world.appendArguments();
      const { newest } = await world.pool.queue();
      const all = world.queue.checkpoints().flatMap((checkpoint) => checkpoint.leaves);
      expect([leaves.length, all.length]).to.deep.equal([41, 73]);
      for (const list of [[], all, all.slice(0, 65)])
        await refused([newRoot, list, proof, newest])
          .revertedWithCustomError(world.pool, "InvalidLeafCount")
          .withArgs(BigInt(list.length));
    });

    it("fewer or more leaves than up to the checkpoint, even if the proof is of these leaves", async () => {
      const all = world.queue.checkpoints().flatMap((checkpoint) => checkpoint.leaves);
      for (const sequence of [1n, 2n, 3n])
        for (let count = 1; count <= all.length; count++) {
          const args = world.appendArguments(3, { leaves: all.slice(0, count), sequence });
          if (count === [3, 5, 9][Number(sequence) - 1]) await world.pool.append.staticCall(...appendTuple(args));
          else await refused(args).revertedWithCustomError(world.pool, "LeavesMismatch");
        }
    });

    it("leaves other than the queued ones: changed, swapped, aliased, zero, or from a later index", async () => {
      const [newRoot, leaves, , sequence] = world.appendArguments(2);
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
        const call: AppendArguments = [newRoot, list, proved[2], sequence];
        await refused(call).revertedWithCustomError(world.pool, "LeavesMismatch");
      }
    });

    it("a proof of another tree, index or leaves, and one for a challenge that the prover chose", async () => {
      const [newRoot, leaves, , sequence] = world.appendArguments(2);
      const proved = (signals: readonly bigint[]): AppendArguments => {
        const { proof } = proveWithTrapdoor("note_append", signals);
        return [newRoot, leaves, proof, sequence];
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

    it("a checkpoint other than the one at which the leaves end", async () => {
      const [newRoot, leaves, proof] = world.appendArguments(2);
      for (const sequence of [1n, 3n])
        await refused([newRoot, leaves, proof, sequence]).revertedWithCustomError(world.pool, "LeavesMismatch");
      for (const sequence of [0n, 4n, 2n + 4096n, 2n ** 32n + 2n, 2n ** 256n - 1n])
        await refused([newRoot, leaves, proof, sequence])
          .revertedWithCustomError(world.pool, "UnknownCheckpoint")
          .withArgs(sequence);
    });

    it("a root other than the proved one, an aliased root, and a root for another tree", async () => {
      const [newRoot, leaves, proof, sequence] = world.appendArguments(2);
      await refused([newRoot + 1n, leaves, proof, sequence]).revertedWithCustomError(world.pool, "InvalidAppendProof");
      const alias: AppendArguments = [newRoot + FIELD_MODULUS, leaves, proof, sequence];
      await refused(alias)
        .revertedWithCustomError(world.pool, "InvalidRoot")
        .withArgs(newRoot + FIELD_MODULUS);
      for (let i = 0; i < 8; i++) {
        const bent = proof.with(i, String(BigInt(proof[i]!) + 1n));
        await refused([newRoot, leaves, bent, sequence]).revertedWithCustomError(world.pool, "InvalidAppendProof");
      }
    });

    it("a proof of another circuit, another pool or another chain", async () => {
      const args = world.appendArguments(2);
      const payment = await world.payment();
      const foreign: AppendArguments = [args[0], args[1], payment.proof, args[3]];
      await refused(foreign).revertedWithCustomError(world.pool, "InvalidAppendProof");
      const other = await PoolWorld.create("append", { chainId: 1337 });
      for (const count of [3, 2, 4]) await other.deposit(notes(count));
      const [newRoot, leaves, , sequence] = args;
      const moved = other.appendArguments(2, { leaves, newRoot })[2];
      await refused([newRoot, leaves, moved, sequence]).revertedWithCustomError(world.pool, "InvalidAppendProof");
    });
  });

  describe("that leaves out a leaf queued before the previous append", () => {
    /** Sends the arguments, as somebody other than the honest appender. */
    const land = async (args: AppendArguments, checkpoints: number) => {
      await (await world.pool.connect(world.deployed.signers[9]!).append(...appendTuple(args))).wait();
      world.tree.append(world.queue.consume(checkpoints));
      await agrees();
    };

    it("is rejected if it has at most 32 leaves", async () => {
      for (const count of [1, 2, 3]) await world.deposit(notes(count));
      // The first append may be of any length.
      await world.append(1);
      await world.deposit(notes(4));
      expect((await world.pool.queue()).due).to.equal(6n);
      await refused(world.appendArguments(1)).revertedWithCustomError(world.pool, "AppendTooShort").withArgs(6n, 3n);
      // Leaves that were queued after the previous append need not be included.
      await land(world.appendArguments(2), 2);
      expect((await world.pool.queue()).due).to.equal(10n);
    });

    it("is accepted if it has more than 32 leaves", async () => {
      await world.deposit(notes(1));
      for (const count of [31, 1, 1, 5]) await world.deposit(notes(count));
      await world.append(1);
      const [exactly32, exactly33] = [world.appendArguments(2), world.appendArguments(3)];
      expect([exactly32[1].length, exactly33[1].length]).to.deep.equal([32, 33]);
      await refused(exactly32).revertedWithCustomError(world.pool, "AppendTooShort").withArgs(39n, 33n);
      await land(exactly33, 3);
    });

    it("is not needed: an append of as many checkpoints as fit is accepted after any history", async () => {
      for (let i = 0; i < 12; i++) {
        for (let blocks = world.random.between(1, 3); blocks > 0; blocks--)
          await world.deposit(notes(world.random.pick([1, 2, 20, 31, 32, 33, 50])));
        const longest = world.appendArguments();
        // Neither later leaves nor time make it invalid.
        for (let blocks = world.random.below(3); blocks > 0; blocks--)
          await world.deposit(notes(world.random.pick([1, 40])));
        await world.deployed.connection.networkHelpers.time.increase(world.random.pick([1, 100, 100_000]));
        const checkpoints = Number(longest[3] - world.queue.lastAppended);
        await land(longest, checkpoints);
      }
    });

    it("cannot keep a note out: an attacker who always lands the shortest append first needs 2 + P / 33 of them", async () => {
      const { random, queue } = world;
      for (let i = 0; i < 6; i++) {
        for (let blocks = random.between(1, 8); blocks > 0; blocks--)
          await world.deposit(notes(random.pick([1, 2, 31, 32, 33])));
        const before = queue.size - queue.appended;
        await world.deposit(notes(1));
        const note = queue.size - 1;
        let appends = 0;
        while (queue.appended <= note) {
          const honest = world.appendArguments();
          await land(world.appendArguments(queue.shortest()), queue.shortest());
          appends++;
          await refused(honest).revert(world.deployed.connection.ethers);
          await world.deposit(notes(random.pick([1, 5, 32])));
        }
        expect(appends).to.be.at.most(2 + Math.floor(before / 33));
      }
    });

    it("is certain to be accepted after another append of the same sender only if it has 33 leaves", async () => {
      for (const count of [33, 31, 33, 2]) await world.deposit(notes(count));
      // Three appends, each proved for the tree after the one before it. Only the model has them yet.
      const [first, second, third] = [3, 2, 1].map((count) => {
        const args = world.appendArguments(count);
        world.tree.append(world.queue.consume(count));
        return args;
      });
      expect([first, second, third].map((args) => args![1].length)).to.deep.equal([64, 33, 2]);
      await world.deposit(notes(1));
      await world.pool.append(...appendTuple(first!));
      await world.pool.append(...appendTuple(second!));
      await refused(third!).revertedWithCustomError(world.pool, "AppendTooShort").withArgs(100n, 99n);
    });
  });

  it("accepts as many leaves as fit into the checkpoints that a small ring has room for, and not one more", async () => {
    for (const [ringSize, most] of [
      [2, 32],
      [3, 64],
    ] as const) {
      const small = await PoolWorld.create("room", { ringSize });
      const deposit = (count: number) => small.pool.deposit.staticCall(notes(count), notes(count));
      await expect(deposit(most + 1))
        .to.be.revertedWithCustomError(small.pool, "QueueFull")
        .withArgs(0n);
      await small.deposit(notes(most));
      expect(small.queue.checkpoints()).to.have.length(ringSize - 1);
      while (small.queue.appended < most) await small.append();
      expect(await small.chain()).to.equal(small.queue.chain);
    }
  });

  it("fills the last checkpoint of a small ring with several calls of one block, and not beyond 32 leaves", async () => {
    const small = await PoolWorld.create("open", { ringSize: 3 });
    const { ethers, networkHelpers } = small.deployed.connection;
    const nonce = await small.deployed.signers[0]!.getNonce();
    await ethers.provider.send("evm_setAutomine", [false]);
    // There is room for 64 leaves; a call that is refused leaves the room to the next one.
    const calls = [31, 1, 33, 31, 2, 1, 1];
    const sent = await Promise.all(
      calls.map((count, i) =>
        small.pool.deposit(notes(count), notes(count), { gasLimit: 3_000_000, nonce: nonce + i }),
      ),
    );
    await networkHelpers.mine();
    await ethers.provider.send("evm_setAutomine", [true]);
    const receipts = await Promise.all(sent.map(({ hash }) => ethers.provider.getTransactionReceipt(hash)));
    expect(new Set(receipts.map((receipt) => receipt!.blockNumber)).size).to.equal(1);
    expect(receipts.map((receipt) => receipt!.status)).to.deep.equal([1, 1, 0, 1, 0, 1, 0]);
    for (const receipt of receipts) await small.record(receipt!);
    expect(small.queue.checkpoints().map(({ leaves }) => leaves.length)).to.deep.equal([32, 32]);
    const state = await small.pool.queue();
    expect([state.size, state.newest, state.newestLeaves]).to.deep.equal([64n, 2n, 32n]);
    await small.append();
    expect(await small.pool.root()).to.equal(small.tree.root);
  });

  it("reuses the slots of a small ring without reading another checkpoint's value", async () => {
    const small = await PoolWorld.create("ring", { ringSize: 3 });
    for (let round = 0; round < 7; round++) {
      const stale = round > 0 && small.queue.lastAppended;
      await small.deposit(notes(1));
      await small.deposit(notes(2));
      const { lastAppended, newest } = await small.pool.queue();
      expect(newest - lastAppended).to.equal(2n);
      // The next block would need the slot at which the tree ends.
      const full = small.pool.deposit([5n], notes(1));
      await expect(full).to.be.revertedWithCustomError(small.pool, "QueueFull").withArgs(2n);
      const [newRoot, leaves, proof, sequence] = small.appendArguments(2);
      // The same slots, three checkpoints earlier and later.
      for (const other of [sequence + 3n, sequence - 3n, stale === false ? 0n : stale].filter((value) => value >= 0n))
        await expect(small.pool.append.staticCall(...appendTuple([newRoot, leaves, proof, other])))
          .to.be.revertedWithCustomError(small.pool, "UnknownCheckpoint")
          .withArgs(other);
      await small.append(round % 2 === 0 ? 2 : 1);
      if (round % 2 === 1) await small.append(1);
      expect(await small.chain()).to.equal(small.queue.chain);
    }
    expect(small.queue.lastAppended).to.equal(14n);
  });
});
