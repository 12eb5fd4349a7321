import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  CIRCUITS,
  FIELD_MODULUS,
  paymentSignals,
  signalsDigest,
  WITHDRAWAL_SIGNAL,
  withdrawalPublicSignals,
  withdrawalSignals,
} from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { deployPool } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld, type ProvedWithdrawal, withdrawArgument, withHash } from "@sotto/test-pool/hardhat/pool-world";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { expect } from "chai";
import { ZeroAddress } from "ethers";

/** sum(coefficients[i] at^i). */
const evaluate = (coefficients: readonly bigint[], at: bigint): bigint =>
  coefficients.reduce((sum, coefficient, i) => sum + coefficient * at ** BigInt(i), 0n) % FIELD_MODULUS;

describe("withdraw", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  const withdraw = (withdrawal: ProvedWithdrawal) => world.mined(world.pool.withdraw(withdrawArgument(withdrawal)));
  const refused = (withdrawal: ProvedWithdrawal) =>
    expect(world.pool.withdraw.staticCall(withdrawArgument(withdrawal))).to.be;
  const balance = (account: string) => world.deployed.token.balanceOf(account);
  const fresh = (count: number) => Array.from({ length: count }, () => world.random.field());

  before(async () => {
    world = await (await PoolWorld.create("withdraw")).withRoot();
  });

  it("pays the recipient and the fee, marks every nullifier and emits everything that a scanner needs", async () => {
    const [recipient, feeRecipient] = [world.random.address(), world.random.address()];
    const nullifiers = fresh(5);
    const withdrawal = await world.withdrawal({ amount: 900n, fee: 40n, recipient, feeRecipient, nullifiers });
    const { signals } = withdrawal;
    const leafIndex = world.queue.size;
    const receipt = await withdraw(withdrawal);
    await expect(receipt)
      .to.emit(world.pool, "Withdrawn")
      .withArgs(
        (value: string) => value.toLowerCase() === recipient,
        signalsDigest(signals),
        [...nullifiers, 0n, 0n, 0n],
        900n,
        40n,
        (value: string) => value.toLowerCase() === feeRecipient,
        withdrawal.validUntil,
        withdrawalSignals(signals).changeHint,
        withdrawalSignals(signals).commitment,
        leafIndex,
      );
    expect([await balance(recipient), await balance(feeRecipient)]).to.deep.equal([860n, 40n]);
    for (const nullifier of nullifiers) expect(await world.pool.spentBy(nullifier)).to.equal(signalsDigest(signals));
    expect(await world.pool.isSpent(0n), "an unused input marks no nullifier").to.equal(false);
    expect(await world.chain()).to.equal(world.queue.chain);
  });

  it("merges without moving tokens, and pays for a sponsored merge with a fee alone", async () => {
    const pool = world.deployed.poolAddress;
    const before = await balance(pool);
    const merge = await withdraw(await world.withdrawal({ recipient: ZeroAddress, nullifiers: fresh(8) }));
    expect(merge.logs, "no transfer of 0").to.have.length(1);
    const feeRecipient = world.random.address();
    const sponsored = await world.withdrawal({ recipient: ZeroAddress, amount: 7n, fee: 7n, feeRecipient });
    expect((await withdraw(sponsored)).logs).to.have.length(2);
    expect(await balance(feeRecipient)).to.equal(7n);
    expect(await balance(pool)).to.equal(before - 7n);
  });

  it("queues no note if the change hint is 0, and shows this in the event", async () => {
    const recipient = world.random.address();
    const exit = await world.withdrawal({ amount: 50n, recipient, nullifiers: fresh(8), changeHint: 0n });
    const before = await world.pool.queue();
    const receipt = await (await world.pool.withdraw(withdrawArgument(exit))).wait();
    expect(await world.pool.queue()).to.deep.equal(before);
    const event = receipt!.logs.map((log) => world.pool.interface.parseLog(log)).find((log) => log !== null)!;
    expect(event.args.toObject()).to.include({ commitment: 0n, leafIndex: 0n, digest: signalsDigest(exit.signals) });
    expect(await balance(recipient)).to.equal(50n);
    await refused(exit).revertedWithCustomError(world.pool, "NullifierAlreadySpent");
    // Nobody else can drop the note, because the proof binds the hint.
    const other = await world.withdrawal({ amount: 50n, recipient });
    const stripped = { ...other, signals: other.signals.with(WITHDRAWAL_SIGNAL.changeHint, 0n) };
    await refused(stripped).revertedWithCustomError(world.pool, "InvalidProof");
  });

  it("leaves a front-runner with nothing but the gas cost", async () => {
    const stranger = world.deployed.signers[6]!;
    const withdrawal = await world.withdrawal({ amount: 300n, recipient: world.random.address() });
    await world.mined(world.pool.connect(stranger).withdraw(withdrawArgument(withdrawal)));
    expect(await balance(stranger.address)).to.equal(0n);
    expect(await balance(withdrawal.recipient)).to.equal(300n);
    const [nullifier] = withdrawal.signals.slice(WITHDRAWAL_SIGNAL.nullifiers);
    await refused(withdrawal).revertedWithCustomError(world.pool, "NullifierAlreadySpent").withArgs(nullifier!);
  });

  it("rejects any recipient, fee or expiry other than the proved one", async () => {
    const fields = { amount: 300n, fee: 20n, feeRecipient: world.random.address() };
    const good = await world.withdrawal(fields);
    const thief = world.deployed.signers[6]!.address;
    const changes = [
      { recipient: thief },
      { feeRecipient: thief },
      { fee: 300n },
      { validUntil: good.validUntil + 1n },
    ];
    for (const change of changes) {
      await refused({ ...good, ...change }).revertedWithCustomError(world.pool, "ContextMismatch");
      // If the context is changed to match, the proof is not valid.
      const redone = await world.withdrawal({ ...fields, validUntil: good.validUntil, ...change });
      await refused({ ...redone, proof: good.proof }).revertedWithCustomError(world.pool, "InvalidProof");
    }
    await expect(world.pool.withdraw.staticCall(withdrawArgument(good))).to.not.revert(
      world.deployed.connection.ethers,
    );
  });

  it("rejects every public signal changed by one", async () => {
    const good = await world.withdrawal({ amount: 300n, nullifiers: fresh(8) });
    const errors: Record<number, string> = {
      [WITHDRAWAL_SIGNAL.context]: "ContextMismatch",
      [WITHDRAWAL_SIGNAL.root]: "RootUnknown",
    };
    for (let i = 0; i < 13; i++) {
      const changed = { ...good, signals: good.signals.with(i, (good.signals[i]! + 1n) % FIELD_MODULUS) };
      await refused(changed).revertedWithCustomError(world.pool, errors[i] ?? "InvalidProof");
    }
    for (let i = 1; i < 8; i++) {
      const hidden = { ...good, signals: good.signals.with(WITHDRAWAL_SIGNAL.nullifiers + i, 0n) };
      await refused(hidden).revertedWithCustomError(world.pool, "InvalidProof");
    }
  });

  it("rejects a proof of another statement, and one for a challenge that the prover chose", async () => {
    const good = await world.withdrawal({ amount: 300n, nullifiers: fresh(8) });
    const { signals } = good;
    const [hash, challenge, evaluation] = withdrawalPublicSignals(signals);
    const proved = (...shown: bigint[]) => ({ ...good, proof: proveWithTrapdoor("withdrawal", shown).proof });
    await world.pool.withdraw.staticCall(withdrawArgument(proved(hash, challenge, evaluation)));
    const [, amount, root, first, second] = signals as [bigint, bigint, bigint, bigint, bigint];
    const statement = signals.slice(1, 12);
    const others = [
      statement.with(0, amount + 1n),
      statement.with(1, root + 1n),
      statement.with(2, second).with(3, first),
      statement.with(9, 0n),
      statement.with(10, statement[10]! + 1n),
      [...statement, 1n],
      statement.slice(0, 10),
    ];
    for (const other of others) {
      const evaluated = evaluate(other, challenge);
      await refused(proved(hash, challenge, evaluated)).revertedWithCustomError(world.pool, "InvalidProof");
    }
    // A challenge that does not depend on the hash or on the signals, with a true evaluation.
    const [, elsewhere] = withdrawalPublicSignals(signals.with(WITHDRAWAL_SIGNAL.context, 1n));
    for (const z of [0n, 1n, elsewhere]) {
      const chosen = proved(hash, z, evaluate(statement, z));
      await refused(chosen).revertedWithCustomError(world.pool, "InvalidProof");
    }
    await refused(proved(hash, evaluation, challenge)).revertedWithCustomError(world.pool, "InvalidProof");
  });

  it("rejects another hash of the statement than the proof's, and an alias of it", async () => {
    const good = await world.withdrawal({ amount: 300n });
    const other = proveWithTrapdoor("withdrawal", withdrawalPublicSignals(good.signals).with(0, 1n));
    for (const statementHash of [good.statementHash + 1n, good.statementHash + FIELD_MODULUS, 0n]) {
      await refused({ ...good, statementHash }).revertedWithCustomError(world.pool, "InvalidProof");
    }
    // The challenge for the hash that the proof is for.
    await refused({ ...good, statementHash: 1n, proof: other.proof }).revertedWithCustomError(
      world.pool,
      "InvalidProof",
    );
    await world.pool.withdraw.staticCall(withdrawArgument(good));
  });

  it("rejects aliases of every public signal", async () => {
    const good = await world.withdrawal({ amount: 300n, nullifiers: fresh(6) });
    for (let i = 0; i < 13; i++) {
      const changed = { ...good, signals: good.signals.with(i, good.signals[i]! + FIELD_MODULUS) };
      await refused(changed).revertedWithCustomError(world.pool, "SignalOutOfField").withArgs(0n, i);
    }
  });

  it("rejects recipients of more than 160 bits before any other check", async () => {
    const good = await world.withdrawal({ amount: 300n });
    const { data } = await world.pool.withdraw.populateTransaction(withdrawArgument(good));
    const { ethers } = world.deployed.connection;
    const accepted = (calldata: string) =>
      ethers.provider.call({ to: world.deployed.poolAddress, data: calldata }).then(
        () => true,
        () => false,
      );
    expect(await accepted(data)).to.equal(true);
    // The struct is static: 4 bytes, 8 words of proof, 13 of signals, the hash of the statement, then recipient, fee,
    // feeRecipient, validUntil.
    for (const [word, lowest] of [
      [22, 23],
      [24, 23],
      [25, 47],
    ] as const) {
      const position = 2 + 8 + word * 64 + lowest;
      expect(data[position]).to.equal("0");
      expect(await accepted(`${data.slice(0, position)}1${data.slice(position + 1)}`), `word ${word}`).to.equal(false);
    }
  });

  it("rejects a spent note, the same note twice, and a withdrawal without notes", async () => {
    const spent = paymentSignals((await world.payment()).signals).nullifier;
    await world.settle(await world.payment({ nullifier: spent }));
    const twice = world.random.field();
    for (const nullifiers of [[spent], [...fresh(7), spent], [twice, twice], [twice, ...fresh(6), twice]]) {
      const error = nullifiers.includes(spent) ? spent : twice;
      const withdrawal = await world.withdrawal({ amount: 1n, nullifiers });
      await refused(withdrawal).revertedWithCustomError(world.pool, "NullifierAlreadySpent").withArgs(error);
    }
    for (const nullifiers of [[], [0n, world.random.field()]]) {
      const withdrawal = await world.withdrawal({ amount: 1n, nullifiers });
      await refused(withdrawal).revertedWithCustomError(world.pool, "NullifierAlreadySpent").withArgs(0n);
    }
  });

  it("makes a competing payment with one of its notes fail", async () => {
    const nullifiers = fresh(3);
    await withdraw(await world.withdrawal({ amount: 1n, nullifiers }));
    const receipt = await world.settle(await world.payment({ nullifier: nullifiers[2]! }));
    await expect(receipt).to.emit(world.pool, "Skipped").withArgs(nullifiers[2]!, 1n);
  });

  it("rejects unknown roots, an expired withdrawal, fees above the amount and invalid recipients", async () => {
    const late = BigInt(await world.now()) - 1n;
    const pool = world.deployed.poolAddress;
    await refused(await world.withdrawal({ root: 5n }))
      .revertedWithCustomError(world.pool, "RootUnknown")
      .withArgs(5n);
    await refused(await world.withdrawal({ validUntil: late })).revertedWithCustomError(
      world.pool,
      "WithdrawalExpired",
    );
    const greedy = await world.withdrawal({ amount: 5n, fee: 6n, feeRecipient: world.random.address() });
    await refused(greedy).revertedWithCustomError(world.pool, "FeeAboveAmount").withArgs(6n, 5n);
    for (const address of [ZeroAddress, pool]) {
      const lost = await world.withdrawal({ amount: 5n, recipient: address });
      await refused(lost).revertedWithCustomError(world.pool, "InvalidRecipient");
      const lostFee = await world.withdrawal({ amount: 5n, fee: 1n, feeRecipient: address });
      await refused(lostFee).revertedWithCustomError(world.pool, "InvalidRecipient");
    }
    await refused(await world.withdrawal({ commitment: 0n })).revertedWithCustomError(world.pool, "InvalidCommitment");
  });

  it("rejects a withdrawal of another pool or chain, and proofs of other circuits", async () => {
    const other = await deployPool(world.deployed.connection);
    const fields = { root: world.tree.root, validUntil: await world.soon(), amount: 1n, nullifiers: fresh(1) };
    const complete = { ...fields, recipient: world.random.address() };
    for (const deployment of [
      { ...world.deployment, pool: other.poolAddress },
      { ...world.deployment, chainId: 1337n },
    ]) {
      const foreign = withHash(proveWithdrawal(deployment, world.random, complete));
      await refused(foreign).revertedWithCustomError(world.pool, "ContextMismatch");
    }
    const good = await world.withdrawal();
    for (const [name, signals] of [
      ["payment", good.signals.slice(0, CIRCUITS.payment.publicSignalCount)],
      ["note_append", withdrawalPublicSignals(good.signals)],
    ] as const) {
      const { proof } = proveWithTrapdoor(name, signals);
      await refused({ ...good, proof }).revertedWithCustomError(world.pool, "InvalidProof");
    }
  });

  it("cannot pay out more than the pool has, even with forged proofs", async () => {
    const all = await balance(world.deployed.poolAddress);
    const withdrawal = await world.withdrawal({ amount: all + 1n });
    await refused(withdrawal).revertedWith("ERC20: transfer amount exceeds balance");
  });

  it("changes nothing if the token rejects the recipient", async () => {
    const { token } = world.deployed;
    const withdrawal = await world.withdrawal({ amount: 5n });
    await token.blacklist(withdrawal.recipient);
    await refused(withdrawal).revertedWith("Blacklistable: account is blacklisted");
    await expect(world.pool.withdraw(withdrawArgument(withdrawal))).to.be.revertedWith(
      "Blacklistable: account is blacklisted",
    );
    expect(await world.pool.isSpent(withdrawal.signals[WITHDRAWAL_SIGNAL.nullifiers]!)).to.equal(false);
    await token.unBlacklist(withdrawal.recipient);
    await withdraw(withdrawal);
  });
});
