import { BASE_FIELD_MODULUS, FIELD_MODULUS, PAYMENT_SIGNAL, paymentSignals, signalsDigest } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import { type Payment, paymentStatement } from "@sotto/test-pool/statements";
import { expect } from "chai";

const OUTCOME = { settled: 0n, spent: 1n, expired: 2n, unknownRoot: 3n };

describe("settle", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;

  before(async () => {
    world = await (await PoolWorld.create("settle")).withRoot();
  });

  /** Outcomes that a settle call would return now. */
  const outcomes = async (...payments: Payment[]) => [
    ...(await world.pool.settle.staticCall(settleArguments(payments))),
  ];
  const refused = (...payments: Payment[]) => expect(world.pool.settle.staticCall(settleArguments(payments))).to.be;

  it("emits everything that a scanner needs and marks the nullifier with the digest of the signals", async () => {
    const payment = await world.payment();
    const { signals } = payment;
    const named = paymentSignals(signals);
    const leafIndex = world.queue.size;
    expect(await world.pool.isSpent(named.nullifier)).to.equal(false);
    const call = world.pool.settle(settleArguments([payment]));
    await expect(call)
      .to.emit(world.pool, "Settled")
      .withArgs(
        paymentSignals(signals).nullifier,
        signalsDigest(signals),
        paymentSignals(signals).ephemeralX,
        paymentSignals(signals).hiddenCipherX,
        paymentSignals(signals).amountHint,
        paymentSignals(signals).changeHint,
        paymentSignals(signals).recipientCommitment,
        paymentSignals(signals).changeCommitment,
        leafIndex,
      );
    await world.mined(call);
    expect(await world.pool.isSpent(paymentSignals(signals).nullifier)).to.equal(true);
    expect(await world.pool.spentBy(paymentSignals(signals).nullifier)).to.equal(signalsDigest(signals));
    expect(await world.chain()).to.equal(world.queue.chain);
  });

  it("settles a payment that another account submits exactly as it was proved, so a front-runner gains nothing", async () => {
    const payment = await world.payment();
    const stranger = world.deployed.signers[5]!;
    const balances = async () => [
      await world.deployed.token.balanceOf(stranger.address),
      await world.deployed.token.balanceOf(world.deployed.poolAddress),
    ];
    const before = await balances();
    await world.mined(world.pool.connect(stranger).settle(settleArguments([payment])));
    expect(await balances()).to.deep.equal(before);
    expect(await world.pool.spentBy(paymentSignals(payment.signals).nullifier)).to.equal(
      signalsDigest(payment.signals),
    );
    const late = await world.settle(payment);
    await expect(late)
      .to.emit(world.pool, "Skipped")
      .withArgs(paymentSignals(payment.signals).nullifier, OUTCOME.spent);
    expect(late.logs).to.have.length(1);
  });

  it("rejects a double spend in a later block, in the same block and in the same batch", async () => {
    const nullifier = world.random.field();
    const [first, second] = [await world.payment({ nullifier }), await world.payment({ nullifier })];
    expect(await outcomes(first!, second!)).to.deep.equal([OUTCOME.settled, OUTCOME.spent]);

    const { ethers } = world.deployed.connection;
    await ethers.provider.send("evm_setAutomine", [false]);
    const options = { gasLimit: 1_000_000 };
    const nonce = await world.deployed.signers[0]!.getNonce();
    const sent = [first, second].map((payment, i) =>
      world.pool.settle(settleArguments([payment]), { ...options, nonce: nonce + i }),
    );
    await Promise.all(sent);
    await ethers.provider.send("evm_mine", []);
    await ethers.provider.send("evm_setAutomine", [true]);
    const receipts = [await world.mined(sent[0]!), await world.mined(sent[1]!)];
    expect(receipts[0]!.blockNumber).to.equal(receipts[1]!.blockNumber);
    expect(receipts.map((receipt) => receipt.logs.length)).to.deep.equal([1, 1]);
    await expect(receipts[0]).to.emit(world.pool, "Settled");
    await expect(receipts[1]).to.emit(world.pool, "Skipped").withArgs(nullifier, OUTCOME.spent);
    expect(await outcomes(first, second)).to.deep.equal([OUTCOME.spent, OUTCOME.spent]);
    expect(await world.pool.spentBy(nullifier)).to.equal(signalsDigest(first.signals));
  });

  it("settles the other seven payments of a batch in which one is spent", async () => {
    const batch = await Promise.all(Array.from({ length: 8 }, () => world.payment()));
    await world.settle(batch[3]!);
    const before = world.queue.size;
    const expected = batch.map((_, i) => (i === 3 ? OUTCOME.spent : OUTCOME.settled));
    expect(await outcomes(...batch)).to.deep.equal(expected);
    const receipt = await world.settle(...batch);
    expect(receipt.logs).to.have.length(8);
    expect(world.queue.size - before).to.equal(14);
    for (const { signals } of batch) expect(await world.pool.isSpent(paymentSignals(signals).nullifier)).to.equal(true);
    expect((await world.pool.queue()).size).to.equal(world.queue.size);
  });

  it("reports the reason for each skipped payment and settles the only remaining one", async () => {
    const spent = await world.payment();
    await world.settle(spent);
    const expired = await world.payment({ validUntil: BigInt(await world.now()) - 1n });
    const unknown = await world.payment({ root: world.random.field() });
    const good = await world.payment();
    const expectation = [OUTCOME.spent, OUTCOME.expired, OUTCOME.unknownRoot, OUTCOME.settled];
    expect(await outcomes(spent, expired, unknown, good)).to.deep.equal(expectation);
    const receipt = await world.settle(spent, expired, unknown);
    expect(receipt.logs, "three reports, nothing else").to.have.length(3);
    await world.settle(spent, expired, unknown, good);
    expect(await outcomes(good)).to.deep.equal([OUTCOME.spent]);
    for (const { signals } of [expired, unknown]) {
      expect(await world.pool.isSpent(paymentSignals(signals).nullifier)).to.equal(false);
    }
  });

  it("settles in the last second of validUntil and not later", async () => {
    const { networkHelpers } = world.deployed.connection;
    const validUntil = BigInt((await world.now()) + 500);
    const [inTime, late] = [await world.payment({ validUntil }), await world.payment({ validUntil })];
    await networkHelpers.time.setNextBlockTimestamp(validUntil);
    await expect(await world.settle(inTime)).to.emit(world.pool, "Settled");
    await networkHelpers.time.setNextBlockTimestamp(validUntil + 1n);
    await expect(await world.settle(late))
      .to.emit(world.pool, "Skipped")
      .withArgs(paymentSignals(late.signals).nullifier, OUTCOME.expired);
  });

  it("accepts every root the tree ever had and no other", async () => {
    const old = world.tree.root;
    await world.append();
    expect(await outcomes(await world.payment({ root: old }))).to.deep.equal([OUTCOME.settled]);
    expect(await outcomes(await world.payment())).to.deep.equal([OUTCOME.settled]);
    const empty = await world.pool.EMPTY_ROOT();
    for (const root of [0n, empty, world.random.field(), FIELD_MODULUS - 1n]) {
      expect(await outcomes(await world.payment({ root }))).to.deep.equal([OUTCOME.unknownRoot]);
    }
  });

  it("settles two payments that share every commitment and hint", async () => {
    const commitments = [world.random.field(), world.random.field()] as const;
    const [first, second] = [await world.payment({ commitments }), await world.payment({ commitments })];
    const receipt = await world.settle(first, second);
    const digests = receipt.logs.map((log) => world.pool.interface.parseLog(log)!.args["digest"]);
    expect(digests).to.deep.equal([signalsDigest(first.signals), signalsDigest(second.signals)]);
    const indices = receipt.logs.map((log) => world.pool.interface.parseLog(log)!.args["leafIndex"]);
    expect(indices[1] - indices[0]).to.equal(2n);
  });

  describe("malformed", () => {
    for (const [count, others] of [
      ["alone", 0],
      ["in a batch", 2],
    ] as const) {
      it(`rejects every public signal changed by one, ${count}`, async () => {
        const rest = await Promise.all(Array.from({ length: others }, () => world.payment()));
        const good = await world.payment();
        for (let i = 0; i < 10; i++) {
          const signals = good.signals.with(i, (good.signals[i]! + 1n) % FIELD_MODULUS);
          const changed = { ...good, signals };
          if (i === PAYMENT_SIGNAL.root)
            expect((await outcomes(changed))[0], "an unknown root").to.equal(OUTCOME.unknownRoot);
          else if (i === PAYMENT_SIGNAL.resourceUrl)
            await refused(changed, ...rest).revertedWithCustomError(world.pool, "ContextMismatch");
          else await refused(changed, ...rest).revertedWithCustomError(world.pool, "InvalidProof");
        }
        expect(await outcomes(good, ...rest)).to.deep.equal([good, ...rest].map(() => OUTCOME.settled));
      });

      it(`rejects a known root other than the proof's, ${count}`, async () => {
        const rest = await Promise.all(Array.from({ length: others }, () => world.payment()));
        const old = world.tree.root;
        const payment = await world.payment();
        await world.deposit();
        await world.append();
        const signals = payment.signals.with(PAYMENT_SIGNAL.root, world.tree.root);
        expect(world.tree.root).to.not.equal(old);
        await refused({ ...payment, signals }, ...rest).revertedWithCustomError(world.pool, "InvalidProof");
      });

      it(`rejects aliases of every public signal, ${count}`, async () => {
        const rest = await Promise.all(Array.from({ length: others }, () => world.payment()));
        const good = await world.payment();
        for (let i = 0; i < 10; i++) {
          for (let alias = good.signals[i]! + FIELD_MODULUS; alias < 1n << 256n; alias += FIELD_MODULUS) {
            const changed = { ...good, signals: good.signals.with(i, alias) };
            await refused(...rest, changed)
              .revertedWithCustomError(world.pool, "SignalOutOfField")
              .withArgs(others, i);
          }
        }
      });

      it(`rejects proof points that are aliases, off the curve or missing, ${count}`, async () => {
        const rest = await Promise.all(Array.from({ length: others }, () => world.payment()));
        const good = await world.payment();
        for (let i = 0; i < 8; i++) {
          const word = BigInt(good.proof[i]!);
          for (const value of [word + BASE_FIELD_MODULUS, word + 1n, BASE_FIELD_MODULUS - word]) {
            const changed = { ...good, proof: good.proof.with(i, String(value)) };
            await refused(changed, ...rest).revertedWithCustomError(world.pool, "InvalidProof");
          }
        }
        const nothing = { ...good, proof: good.proof.map(() => "0") };
        await refused(nothing, ...rest).revertedWithCustomError(world.pool, "InvalidProof");
      });
    }

    it("rejects an empty batch and commitments of 0", async () => {
      await refused().revertedWithCustomError(world.pool, "NoPayments");
      for (const commitments of [
        [0n, 1n],
        [1n, 0n],
      ] as const) {
        await refused(await world.payment({ commitments })).revertedWithCustomError(world.pool, "InvalidCommitment");
      }
    });

    it("rejects nullifier 0, alone and in a batch, even with a valid proof", async () => {
      const payment = await world.payment({ nullifier: 0n });
      const other = await world.payment();
      for (const batch of [[payment], [payment, other], [other, payment]])
        await refused(...batch)
          .revertedWithCustomError(world.pool, "NullifierAlreadySpent")
          .withArgs(0n);
      expect(await outcomes(other), "the other payment alone").to.deep.equal([OUTCOME.settled]);
    });

    it("rejects an expiry or a resource other than the proof's", async () => {
      const good = await world.payment();
      const later = { ...good, validUntil: good.validUntil + 60n };
      await refused(later).revertedWithCustomError(world.pool, "ContextMismatch");
      const other = { ...good, resourceDigest: world.random.bytes32() };
      await refused(other).revertedWithCustomError(world.pool, "ContextMismatch");
      const statement = paymentStatement(world.deployment, world.random, {
        root: world.tree.root,
        validUntil: later.validUntil,
      });
      const redated = { ...good, ...statement };
      await refused(redated).revertedWithCustomError(world.pool, "InvalidProof");
    });
  });
});
