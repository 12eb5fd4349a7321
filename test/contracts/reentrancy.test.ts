import { WITHDRAWAL_SIGNAL } from "@sotto/protocol";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { connect, deployPool, SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { appendTuple, PoolWorld, settleArguments, withdrawArgument } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import type { HostileToken } from "../../types/ethers-contracts/index.js";

describe("a hostile token", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  let token: HostileToken;
  let guard: string;

  beforeEach(async () => {
    const connection = await connect();
    token = await connection.ethers.deployContract("HostileToken");
    world = new PoolWorld(await deployPool(connection, { token: await token.getAddress() }), new Random("hostile"));
    await token.mint(world.deployed.signers[0]!.address, 10n ** 12n);
    await token.approve(world.deployed.poolAddress, 10n ** 12n);
    await world.withRoot();
    guard = world.pool.interface.encodeErrorResult("ReentrancyGuardReentrantCall");
  });

  const arm = (data: string) => token.arm(world.deployed.poolAddress, data);
  const agrees = async () => {
    const { size } = await world.pool.queue();
    expect(size).to.equal(BigInt(world.queue.size));
    expect(await world.chain()).to.equal(world.queue.chain);
  };

  it("cannot re-enter a deposit or a withdrawal", async () => {
    const inner = await world.withdrawal({ amount: 5n });
    const calls = [
      world.pool.interface.encodeFunctionData("deposit", [[5n], [SMALLEST_DEPOSIT]]),
      (await world.pool.withdraw.populateTransaction(withdrawArgument(inner))).data,
    ];
    for (const data of calls) {
      await arm(data);
      const deposited = await world.deposit();
      await expect(deposited).to.emit(token, "CalledBack").withArgs(false, guard);
      await arm(data);
      const withdrawn = await world.mined(
        world.pool.withdraw(withdrawArgument(await world.withdrawal({ amount: 9n }))),
      );
      await expect(withdrawn).to.emit(token, "CalledBack").withArgs(false, guard);
      await agrees();
    }
    expect(await world.pool.isSpent(inner.signals[WITHDRAWAL_SIGNAL.nullifiers]!)).to.equal(false);
  });

  it("may settle and append during a deposit, because no state is partially written at that point", async () => {
    const payment = await world.payment();
    await arm((await world.pool.settle.populateTransaction(settleArguments([payment]))).data);
    await expect(await world.deposit()).to.emit(world.pool, "Settled");
    await agrees();
    await arm((await world.pool.append.populateTransaction(...appendTuple(world.appendArguments(1)))).data);
    const [before, receipt] = [world.queue.size, world.deposit()];
    await expect(await receipt).to.emit(world.pool, "Appended");
    world.tree.append(world.queue.consume(1));
    expect(world.queue.size).to.equal(before + 1);
    expect(await world.pool.root()).to.equal(world.tree.root);
    await agrees();
    await world.append();
    expect(await world.pool.root()).to.equal(world.tree.root);
  });

  it("cannot double a withdrawal by settling its notes during the transfer", async () => {
    const nullifier = world.random.field();
    const payment = await world.payment({ nullifier });
    await arm((await world.pool.settle.populateTransaction(settleArguments([payment]))).data);
    const withdrawal = await world.withdrawal({ amount: 9n, nullifiers: [nullifier] });
    const receipt = await world.mined(world.pool.withdraw(withdrawArgument(withdrawal)));
    await expect(receipt).to.emit(world.pool, "Skipped").withArgs(nullifier, 1n);
    await agrees();
  });

  it("cannot create notes for tokens that did not arrive", async () => {
    await token.setFee(1n);
    const deposit = () => world.pool.deposit.staticCall([5n], [SMALLEST_DEPOSIT]);
    await expect(deposit())
      .to.be.revertedWithCustomError(world.pool, "WrongAmountReceived")
      .withArgs(SMALLEST_DEPOSIT, SMALLEST_DEPOSIT - 1n);
    await token.setFee(0n);
    await deposit();
    await token.setSilent(true);
    await expect(deposit())
      .to.be.revertedWithCustomError(world.pool, "WrongAmountReceived")
      .withArgs(SMALLEST_DEPOSIT, 0n);
    const [payer] = world.deployed.signers;
    const zero = `0x${"00".repeat(32)}`;
    const sponsored = world.pool.depositWithAuthorization.staticCall(
      payer!.address,
      [5n],
      [SMALLEST_DEPOSIT],
      zero,
      0n,
      0n,
      `0x${"00".repeat(65)}`,
    );
    await expect(sponsored).to.be.revertedWithCustomError(world.pool, "WrongAmountReceived");
  });
});
