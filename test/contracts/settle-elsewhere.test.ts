import { bn254 } from "@noble/curves/bn254.js";
import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { FIELD_MODULUS, PAYMENT_SIGNAL, paymentSignals } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { deployPool } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import { type Payment, provePayment } from "@sotto/test-pool/statements";
import { expect } from "chai";

describe("settle: valid proofs of other pools, chains and circuits", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  const refused = (...payments: Payment[]) => expect(world.pool.settle.staticCall(settleArguments(payments))).to.be;
  const several = (count: number) => Promise.all(Array.from({ length: count }, () => world.payment()));

  before(async () => {
    world = await (await PoolWorld.create("elsewhere")).withRoot();
  });

  it("rejects a payment of another pool on the same chain", async () => {
    const other = await deployPool(world.deployed.connection);
    const deployment = { ...world.deployment, pool: other.poolAddress };
    const fields = { root: world.tree.root, validUntil: await world.soon() };
    const foreign = provePayment(deployment, world.random, fields);
    await refused(foreign).revertedWithCustomError(world.pool, "ContextMismatch");
    await refused(await world.payment(), foreign).revertedWithCustomError(world.pool, "ContextMismatch");
  });

  it("rejects a payment of a pool with the same address and tree on another chain", async () => {
    const twin = await (await PoolWorld.create("elsewhere", { chainId: 1337 })).withRoot();
    expect(twin.deployed.poolAddress).to.equal(world.deployed.poolAddress);
    const payment = await world.payment({ validUntil: BigInt((await world.now()) + 3600) });
    // Both trees have the same root after the same leaf, so only the chain id differs.
    const signals = payment.signals.with(PAYMENT_SIGNAL.root, twin.tree.root);
    const moved = { ...payment, signals, proof: proveWithTrapdoor("payment", signals).proof };
    const call = twin.pool.settle.staticCall(settleArguments([moved]));
    await expect(call).to.be.revertedWithCustomError(twin.pool, "ContextMismatch");
  });

  it("rejects proofs of the other circuits", async () => {
    const payment = await world.payment();
    for (const [name, count] of [
      ["withdrawal", 3],
      ["note_append", 3],
    ] as const) {
      const signals = Array.from({ length: count }, (_, i) => payment.signals[i] ?? 0n);
      const foreign = { ...payment, proof: proveWithTrapdoor(name, signals).proof };
      await refused(foreign).revertedWithCustomError(world.pool, "InvalidProof");
      await refused(foreign, await world.payment()).revertedWithCustomError(world.pool, "InvalidProof");
    }
  });

  describe("in a batch", () => {
    it("rejects the whole batch for one invalid proof, at any index", async () => {
      const batch = await several(8);
      for (const at of [0, 3, 7]) {
        const wrong = batch.with(at, { ...batch[at]!, proof: batch[(at + 1) % 8]!.proof });
        await refused(...wrong).revertedWithCustomError(world.pool, "InvalidProof");
      }
    });

    it("rejects swapped proofs", async () => {
      const [a, b] = await several(2);
      const swapped = [
        { ...a!, proof: b!.proof },
        { ...b!, proof: a!.proof },
      ];
      await refused(...swapped).revertedWithCustomError(world.pool, "InvalidProof");
    });

    it("rejects two wrong proofs whose errors would cancel out in an unweighted sum", async () => {
      const [a, b] = await several(2);
      const shift = bn254.G1.Point.BASE.multiply(5n);
      const moved = (payment: Payment, by: typeof shift): Payment => {
        const c = bn254.G1.Point.fromAffine({ x: BigInt(payment.proof[6]!), y: BigInt(payment.proof[7]!) });
        const { x, y } = c.add(by).toAffine();
        return { ...payment, proof: [...payment.proof.slice(0, 6), String(x), String(y)] };
      };
      const sum = [a!, b!].map(({ proof }) =>
        bn254.G1.Point.fromAffine({ x: BigInt(proof[6]!), y: BigInt(proof[7]!) }),
      );
      const wrong = [moved(a!, shift), moved(b!, shift.negate())];
      const wrongSum = wrong.map(({ proof }) =>
        bn254.G1.Point.fromAffine({ x: BigInt(proof[6]!), y: BigInt(proof[7]!) }),
      );
      expect(wrongSum[0]!.add(wrongSum[1]!).equals(sum[0]!.add(sum[1]!)), "the plain sum is the same").to.equal(true);
      await refused(...wrong).revertedWithCustomError(world.pool, "InvalidProof");
    });

    it("rejects two wrong statements whose errors would cancel out in an unweighted sum", async () => {
      const [a, b] = await several(2);
      const signals = (payment: Payment, by: bigint) =>
        payment.signals.with(
          PAYMENT_SIGNAL.amountHint,
          (paymentSignals(payment.signals).amountHint + by) % FIELD_MODULUS,
        );
      const wrong = [
        { ...a!, signals: signals(a!, 1n) },
        { ...b!, signals: signals(b!, FIELD_MODULUS - 1n) },
      ];
      await refused(...wrong).revertedWithCustomError(world.pool, "InvalidProof");
    });

    it("does not verify the proof of a skipped payment", async () => {
      const [good, other] = await several(2);
      const lost = {
        ...other!,
        signals: other!.signals.with(PAYMENT_SIGNAL.root, 1n),
        proof: other!.proof.map(() => "1"),
      };
      const outcomes = await world.pool.settle.staticCall(settleArguments([lost, good!, lost]));
      expect([...outcomes]).to.deep.equal([3n, 0n, 3n]);
    });

    for (const count of [2, 3, 5, 16]) {
      it(`settles ${count} payments in one call`, async () => {
        const batch = await several(count);
        const receipt = await world.settle(...batch);
        expect(receipt.logs).to.have.length(count);
        expect((await world.pool.queue()).size).to.equal(world.queue.size);
      });
    }
  });

  it("accepts a re-randomized proof of the same payment", async () => {
    const payment = await world.payment();
    const again = { ...payment, proof: proveWithTrapdoor("payment", payment.signals).proof };
    expect(again.proof).to.not.deep.equal(payment.proof);
    await world.settle(payment);
    const receipt = await world.settle(again);
    await expect(receipt).to.emit(world.pool, "Skipped").withArgs(paymentSignals(payment.signals).nullifier, 1n);
  });
});
