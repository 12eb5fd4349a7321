import { FIELD_MODULUS, NoteTree, paymentSignals, withdrawalSignals } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld, settleArguments, withdrawArgument } from "@sotto/test-pool/hardhat/pool-world";
import type { Payment } from "@sotto/test-pool/statements";
import { expect } from "chai";

const ACTIONS = process.env["SOTTO_LONG"] ? 10_000 : 250;

/** A note, as known to its owner. The test forges proofs with the trapdoor, so no circuit checks these values. */
interface Note {
  readonly amount: bigint;
  readonly nullifier: bigint;
  /** Leaf index; the note can be spent as soon as a root includes it. */
  readonly index: number;
}

/** Users that pay, withdraw and cheat at random. Each proof is either honest about the notes or deliberately false. */
class Economy {
  readonly world: PoolWorld;
  readonly roots: { root: bigint; size: number }[] = [];
  readonly leaves: bigint[] = [];
  readonly past: Payment[] = [];
  unspent: Note[] = [];
  deposited = 0n;
  withdrawn = 0n;
  cheats = 0;

  constructor(world: PoolWorld) {
    this.world = world;
  }

  get #random() {
    return this.world.random;
  }

  /** Takes a note that is in the tree, and a root that includes it. */
  #take(): { note: Note; root: bigint } | undefined {
    const usable = this.unspent.filter(({ index }) => index < this.world.tree.size);
    if (usable.length === 0) return undefined;
    const note = this.#random.pick(usable);
    this.unspent = this.unspent.filter((other) => other !== note);
    return { note, root: this.#random.pick(this.roots.filter(({ size }) => size > note.index)).root };
  }

  #receive(amount: bigint, leaf: bigint): void {
    this.unspent.push({ amount, nullifier: this.#random.field(), index: this.leaves.length });
    this.leaves.push(leaf);
  }

  async deposit(): Promise<void> {
    const amounts = Array.from(
      { length: this.#random.between(1, 3) },
      () => SMALLEST_DEPOSIT * BigInt(this.#random.between(1, 50)),
    );
    const receipt = await this.world.deposit(amounts);
    const events = receipt.logs.map((log) => this.world.pool.interface.parseLog(log)).filter((event) => event !== null);
    for (const [i, { args }] of events.filter(({ name }) => name === "Deposited").entries()) {
      this.#receive(amounts[i]!, args["commitment"]);
      this.deposited += amounts[i]!;
    }
  }

  /** Settles one to four payments; some batches repeat a payment or include one that was settled before. */
  async pay(): Promise<void> {
    const batch: Payment[] = [];
    const expected: bigint[] = [];
    for (let count = this.#random.between(1, 4); count > 0; count--) {
      if (this.past.length > 0 && this.#random.below(5) === 0) {
        batch.push(this.#random.pick(this.past));
        expected.push(1n);
        this.cheats++;
        continue;
      }
      const taken = this.#take();
      if (taken === undefined) continue;
      const { note, root } = taken;
      const payment = await this.world.payment({ nullifier: note.nullifier, root });
      const paid = this.#random.word() % (note.amount + 1n);
      const { recipientCommitment, changeCommitment } = paymentSignals(payment.signals);
      this.#receive(paid, recipientCommitment);
      this.#receive(note.amount - paid, changeCommitment);
      this.past.push(payment);
      batch.push(payment);
      expected.push(0n);
    }
    if (batch.length === 0) return;
    const stranger = this.#random.pick(this.world.deployed.signers);
    // A payment settled minutes ago is both expired and spent; the contract reports "spent" first.
    expect([...(await this.world.pool.settle.staticCall(settleArguments(batch)))]).to.deep.equal(expected);
    await this.world.mined(this.world.pool.connect(stranger).settle(settleArguments(batch)));
  }

  async withdraw(): Promise<void> {
    const taken = Array.from({ length: this.#random.between(1, 8) }, () => this.#take()).filter(
      (one) => one !== undefined,
    );
    if (taken.length === 0) return;
    // All inputs are proved against one root, the newest.
    const total = taken.reduce((sum, { note }) => sum + note.amount, 0n);
    const amount = this.#random.word() % (total + 1n);
    const fee = this.#random.pick([0n, amount, amount / 10n]);
    const withdrawal = await this.world.withdrawal({
      amount,
      fee,
      nullifiers: taken.map(({ note }) => note.nullifier),
      feeRecipient: this.#random.address(),
    });
    await this.world.mined(this.world.pool.withdraw(withdrawArgument(withdrawal)));
    this.#receive(total - amount, withdrawalSignals(withdrawal.signals).commitment);
    this.withdrawn += amount;
  }

  async append(): Promise<void> {
    const { queue } = this.world;
    if (queue.size === queue.appended) return;
    const count = this.#random.between(queue.shortest(), queue.longest());
    await this.world.append(count);
    this.roots.push({ root: this.world.tree.root, size: this.world.tree.size });
  }

  /** Tries a call that must revert. */
  async cheat(): Promise<void> {
    const { pool } = this.world;
    const good = await this.world.payment({ root: this.#random.pick(this.roots).root });
    const at = this.#random.pick([0, 2, 3, 4, 6, 7, 8, 9]);
    const changed = {
      ...good,
      signals: good.signals.with(at, (good.signals[at]! + this.#random.field()) % FIELD_MODULUS),
    };
    const wrong = this.#random.pick([changed, { ...good, proof: changed.proof.with(6, "1").with(7, "2") }]);
    const honest = await this.world.payment({ root: this.#random.pick(this.roots).root });
    const batch = this.#random.pick([[wrong], [honest, wrong], [wrong, honest]]);
    await expect(pool.settle(settleArguments(batch))).to.be.revertedWithCustomError(pool, "InvalidProof");
    this.cheats++;
  }

  async check(): Promise<void> {
    const { pool, deployed, tree, queue } = this.world;
    const balance = await deployed.token.balanceOf(deployed.poolAddress);
    expect(balance, "deposits - withdrawals").to.equal(this.deposited - this.withdrawn);
    expect(balance, "the unspent notes").to.equal(this.unspent.reduce((sum, { amount }) => sum + amount, 0n));
    expect(await pool.root(), "the oracle's root").to.equal(tree.root);
    expect(await this.world.chain()).to.equal(queue.chain);
  }
}

describe("invariants", function () {
  slow(this, "transactions and proofs on a chain in this process");
  it(`stays solvent and matches the oracle's tree over ${ACTIONS} random actions`, async () => {
    const world = await PoolWorld.create("invariants");
    const economy = new Economy(world);
    await economy.deposit();
    await economy.append();
    const actions = [
      () => economy.deposit(),
      () => economy.pay(),
      () => economy.pay(),
      () => economy.pay(),
      () => economy.withdraw(),
      () => economy.append(),
      () => economy.append(),
      () => economy.cheat(),
    ];
    for (let i = 0; i < ACTIONS; i++) {
      await world.random.pick(actions)();
      await world.deployed.connection.networkHelpers.time.increase(world.random.between(1, 50));
      await economy.check();
    }
    expect(economy.cheats).to.be.greaterThan(ACTIONS / 20);
    for (const { signals } of economy.past)
      expect(await world.pool.isSpent(paymentSignals(signals).nullifier)).to.equal(true);
    for (const { nullifier } of economy.unspent) expect(await world.pool.isSpent(nullifier)).to.equal(false);
    while (world.queue.size > world.queue.appended) await world.append();
    // The same leaves, inserted into a new tree in one step.
    expect(await world.pool.root()).to.equal(new NoteTree(economy.leaves).root);
  });
});
