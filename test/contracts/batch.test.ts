import { bn254 } from "@noble/curves/bn254.js";
import { BASE_FIELD_MODULUS, paymentSignals, signalsDigest } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { PoolWorld, settleArguments } from "@sotto/test-pool/hardhat/pool-world";
import type { Payment } from "@sotto/test-pool/statements";
import { expect } from "chai";
import { AbiCoder, keccak256, solidityPacked } from "ethers";

const SETTLED = 0n;
const SPENT = 1n;
/** As many payments as the service puts into one transaction at most. */
const LARGEST = 64;
const { Point } = bn254.G1;
type Point = InstanceType<typeof Point>;

describe("a batch of payments", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  let good: Payment[];

  before(async () => {
    world = await (await PoolWorld.create("batch")).withRoot();
    good = await Promise.all(Array.from({ length: LARGEST }, () => world.payment()));
  });

  const outcomes = async (payments: readonly Payment[]): Promise<bigint[]> => [
    ...(await world.pool.settle.staticCall(settleArguments(payments))),
  ];
  const refused = (payments: readonly Payment[], message: string) =>
    expect(outcomes(payments), message).to.be.revertedWithCustomError(world.pool, "InvalidProof");

  /** The payment with C + difference in its proof. */
  const moved = (payment: Payment, difference: Point): Payment => {
    const c = Point.fromAffine({ x: BigInt(payment.proof[6]!), y: BigInt(payment.proof[7]!) });
    const { x, y } = c.add(difference).toAffine();
    return { ...payment, proof: payment.proof.with(6, String(x)).with(7, String(y)) };
  };

  it("settles one payment of each nullifier, at any positions of a batch of 64", async () => {
    for (const positions of [
      [0, 1],
      [0, 63],
      [31, 32],
      [62, 63],
      [1, 2, 3, 40, 63],
    ]) {
      const nullifier = world.random.field();
      const same = await Promise.all(positions.map(() => world.payment({ nullifier })));
      const batch = good.map((payment, i) => same[positions.indexOf(i)] ?? payment);
      const expected = batch.map((_, i) => (positions.slice(1).includes(i) ? SPENT : SETTLED));
      expect(await outcomes(batch), positions.join()).to.deep.equal(expected);
    }
  });

  it("skips a repeated payment without a look at its proof, and an expired one as spent", async () => {
    const [first, second] = good as [Payment, Payment];
    const broken = { ...first, proof: second.proof };
    expect(await outcomes([first, broken, second])).to.deep.equal([SETTLED, SPENT, SETTLED]);
    await refused([broken, first, second], "the first one counts");
    const { nullifier } = paymentSignals(first.signals);
    const expired = await world.payment({ nullifier, validUntil: BigInt(await world.now()) - 1n });
    expect(await outcomes([first, expired])).to.deep.equal([SETTLED, SPENT]);
  });

  it("rejects a batch of 64 copies of one payment with a wrong proof, and settles one with the right one", async () => {
    const copies = (payment: Payment): Payment[] => Array.from({ length: LARGEST }, () => payment);
    await refused(copies({ ...good[0]!, proof: good[1]!.proof }), "64 wrong proofs");
    const expected = copies(good[0]!).map((_, i) => (i === 0 ? SETTLED : SPENT));
    expect(await outcomes(copies(good[0]!))).to.deep.equal(expected);
  });

  it("rejects one invalid proof at each position of a batch, and at both ends and the middle of 64", async () => {
    const { proof } = await world.payment();
    const wrongAt = (batch: readonly Payment[], i: number) => batch.with(i, { ...batch[i]!, proof });
    const batch = good.slice(0, 12);
    for (const i of batch.keys()) await refused(wrongAt(batch, i), `position ${i} of ${batch.length}`);
    for (const i of [0, 1, 32, 63]) await refused(wrongAt(good, i), `position ${i} of 64`);
  });

  it("rejects every proof word of the first payment that is an alias, off the curve or another point", async () => {
    const batch = good.slice(0, 3);
    for (let word = 0; word < 8; word++) {
      const value = BigInt(batch[0]!.proof[word]!);
      for (const other of [value + BASE_FIELD_MODULUS, value + 1n, BASE_FIELD_MODULUS - value, 0n]) {
        const proof = batch[0]!.proof.with(word, String(other));
        await refused(batch.with(0, { ...batch[0]!, proof }), `word ${word}`);
      }
    }
    const none = { ...batch[0]!, proof: batch[0]!.proof.with(6, "0").with(7, "0") };
    await refused(batch.with(0, none), "C at infinity");
  });

  it("rejects proofs whose errors cancel without weights, at each pair of positions", async () => {
    const error = Point.BASE.multiply(12345n);
    const batch = good.slice(0, 4);
    for (let i = 0; i < batch.length; i++)
      for (let j = 0; j < batch.length; j++)
        if (i !== j) {
          const changed = batch.with(i, moved(batch[i]!, error)).with(j, moved(batch[j]!, error.negate()));
          await refused(changed, `positions ${i} and ${j}`);
        }
  });

  it("rejects errors that cancel with the weights of the batch before the change", async () => {
    const batch = good.slice(0, 3);
    const verifier = await world.deployed.connection.ethers.getContractAt(
      "IPaymentVerifier",
      await world.pool.paymentVerifier(),
    );
    const key = [...(await verifier.verificationKey())];
    const coder = AbiCoder.defaultAbiCoder();
    const keyHash = keccak256(coder.encode([`uint256[${key.length}]`], [key]));
    const error = Point.BASE.multiply(777n);
    // The attack succeeds if the seed misses words of a proof: C alone, or all of them.
    for (const hashed of [8, 6, 0]) {
      const entries = batch.map(({ proof, signals }) => {
        const words = proof.map((word, i) => (i < hashed ? word : "0"));
        return solidityPacked([...words.map(() => "uint256"), "bytes32"], [...words, signalsDigest(signals)]);
      });
      const seed = keccak256(
        solidityPacked(["bytes32", "uint256", ...entries.map(() => "bytes")], [keyHash, batch.length, ...entries]),
      );
      const weight = (i: number) =>
        i === 0 ? 1n : BigInt(keccak256(coder.encode(["bytes32", "uint256"], [seed, i]))) >> 128n;
      for (const [i, j] of [
        [0, 1],
        [1, 0],
        [1, 2],
      ] as const) {
        // w_i * (w_j E) - w_j * (w_i E) = 0.
        const changed = batch
          .with(i, moved(batch[i]!, error.multiply(weight(j))))
          .with(j, moved(batch[j]!, error.multiply(weight(i)).negate()));
        await refused(changed, `positions ${i} and ${j}, ${hashed} words`);
      }
    }
  });

  it("undoes every spend of the first pass if a proof is invalid, and then settles 64 payments at once", async () => {
    const changed = good.with(63, { ...good[63]!, proof: good[0]!.proof });
    const sent = world.pool.settle(settleArguments(changed), { gasLimit: 12_000_000 });
    await expect(sent).to.be.revertedWithCustomError(world.pool, "InvalidProof");
    for (const { signals } of good) expect(await world.pool.isSpent(paymentSignals(signals).nullifier)).to.equal(false);

    const before = world.queue.size;
    const receipt = await world.settle(...good);
    expect(receipt.logs).to.have.length(LARGEST);
    expect(world.queue.size - before).to.equal(2 * LARGEST);
    expect(await world.chain()).to.equal(world.queue.chain);
    for (const { signals } of good)
      expect(await world.pool.spentBy(paymentSignals(signals).nullifier)).to.equal(signalsDigest(signals));
    expect(await outcomes(good)).to.deep.equal(good.map(() => SPENT));
  });
});
