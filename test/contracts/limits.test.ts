import { slow } from "@sotto/test-kit/slow";
import { SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld, settleArguments, withdrawArgument } from "@sotto/test-pool/hardhat/pool-world";
import { patchQueue } from "@sotto/test-pool/hardhat/storage";
import { expect } from "chai";

const CODE_LIMIT = 24_576;
const MAX_LEAVES = 8n ** 10n;

/** Filling the pool cannot lock money in: a withdrawal without an output note needs no room. */
async function leaves(world: PoolWorld): Promise<void> {
  const recipient = world.random.address();
  const before = await world.pool.queue();
  const exit = await world.withdrawal({ amount: 700n, recipient, changeHint: 0n });
  await (await world.pool.withdraw(withdrawArgument(exit))).wait();
  expect(await world.deployed.token.balanceOf(recipient)).to.equal(700n);
  expect(await world.pool.queue()).to.deep.equal(before);
}

describe("limits", function () {
  slow(this, "transactions and proofs on a chain in this process");
  it("keeps every contract within the code size limit (EIP-170)", async () => {
    const { pool, connection } = (await PoolWorld.create("limits")).deployed;
    const addresses = [
      await pool.getAddress(),
      await pool.paymentVerifier(),
      await pool.withdrawalVerifier(),
      await pool.noteAppendVerifier(),
      await pool.noteHasher(),
    ];
    for (const address of addresses) {
      const bytes = ((await connection.ethers.provider.getCode(address)).length - 2) / 2;
      expect(bytes).to.be.within(1, CODE_LIMIT);
    }
  });

  it("has no function beyond those of the interface, so there is no admin to trust", async () => {
    const { pool } = (await PoolWorld.create("limits")).deployed;
    const changing = pool.interface.fragments.filter(
      (fragment) =>
        fragment.type === "function" &&
        !["view", "pure"].includes((fragment as { stateMutability?: string }).stateMutability ?? ""),
    );
    const names = changing.map((fragment) => (fragment as unknown as { name: string }).name).sort();
    expect(names).to.deep.equal([
      "append",
      "deposit",
      "depositWithAuthorization",
      "depositWithPermit2",
      "settle",
      "withdraw",
    ]);
    const payable = changing.filter((fragment) => (fragment as { payable?: boolean }).payable);
    expect(payable, "ether could never leave").to.deep.equal([]);
  });

  it("accepts 8^10 leaves and rejects one more before it verifies a proof", async () => {
    const world = await (await PoolWorld.create("limits")).withRoot();
    const { pool, deployed } = world;
    const refuses = async (room: bigint) => {
      const payment = await world.payment();
      const broken = { ...payment, proof: Array(8).fill("1") };
      const error = [MAX_LEAVES - room, 2n] as const;
      const settle = pool.settle.staticCall(settleArguments([broken]));
      await expect(settle)
        .to.be.revertedWithCustomError(pool, "TreeFull")
        .withArgs(...error);
    };
    await patchQueue(deployed, { size: MAX_LEAVES - 3n });
    await pool.settle.staticCall(settleArguments([await world.payment()]));
    await patchQueue(deployed, { size: MAX_LEAVES - 1n });
    await refuses(1n);
    const last = await pool.deposit([world.random.field()], [SMALLEST_DEPOSIT]);
    const events = (await last.wait())!.logs
      .map((log) => pool.interface.parseLog(log))
      .filter((event) => event !== null);
    expect(events.map(({ args }) => args["leafIndex"])).to.deep.equal([MAX_LEAVES - 1n]);
    await refuses(0n);
    const more = pool.deposit.staticCall([world.random.field()], [SMALLEST_DEPOSIT]);
    await expect(more).to.be.revertedWithCustomError(pool, "TreeFull").withArgs(MAX_LEAVES, 1n);
    const withdrawal = { ...(await world.withdrawal()), proof: Array(8).fill("1") };
    const withdraw = pool.withdraw.staticCall(withdrawArgument(withdrawal));
    await expect(withdraw).to.be.revertedWithCustomError(pool, "TreeFull").withArgs(MAX_LEAVES, 1n);
    await leaves(world);
  });

  it("keeps 4,095 pending checkpoints, then rejects further leaves before it verifies a proof", async () => {
    const world = await (await PoolWorld.create("limits")).withRoot();
    const { pool, deployed } = world;
    await world.deposit();
    const { lastAppended } = await pool.queue();
    await patchQueue(deployed, { newest: lastAppended + 4094n });
    await pool.deposit([5n], [SMALLEST_DEPOSIT]);
    expect((await pool.queue()).newest).to.equal(lastAppended + 4095n);
    // A call for the latest block would execute in the block of the newest checkpoint, which still has space.
    await deployed.connection.networkHelpers.mine();
    const broken = { ...(await world.payment()), proof: Array(8).fill("1") };
    const withdrawal = withdrawArgument({ ...(await world.withdrawal()), proof: broken.proof });
    // Each call starts only when it is awaited, because an unhandled rejection would end the test run.
    const refused = [
      () => pool.settle.staticCall(settleArguments([broken])),
      () => pool.deposit.staticCall([5n], [SMALLEST_DEPOSIT]),
      () => pool.withdraw.staticCall(withdrawal),
    ];
    for (const call of refused) await expect(call()).to.be.revertedWithCustomError(pool, "QueueFull").withArgs(4095n);
    await leaves(world);
  });

  it("reports a full queue only for payments that would otherwise settle", async () => {
    const world = await (await PoolWorld.create("limits")).withRoot();
    await world.deposit();
    const { lastAppended } = await world.pool.queue();
    await patchQueue(world.deployed, { newest: lastAppended + 4095n });
    await world.deployed.connection.networkHelpers.mine();
    const unknown = await world.payment({ root: 5n });
    expect([...(await world.pool.settle.staticCall(settleArguments([unknown])))]).to.deep.equal([3n]);
  });
});
