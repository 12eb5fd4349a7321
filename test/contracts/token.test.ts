// Tests the parts of the test dollar that other tests do not reach, so that wallets can treat it like real USDC.

import { slow } from "@sotto/test-kit/slow";
import { tokenDomain } from "@sotto/test-pool/hardhat/authorization";
import { type Signer, SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import { ZeroAddress } from "ethers";

const PERMIT = ["owner", "spender", "value", "nonce", "deadline"].map((name) => ({
  name,
  type: name === "owner" || name === "spender" ? "address" : "uint256",
}));
const FOREVER = 2n ** 256n - 1n;

describe("a permit of the test dollar", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  let owner: Signer;
  let relayer: Signer;

  before(async () => {
    world = await PoolWorld.create("permit");
    [, , owner, relayer] = world.deployed.signers as [Signer, Signer, Signer, Signer];
    await world.deployed.token.mint(owner.address, SMALLEST_DEPOSIT);
  });

  interface Permit {
    readonly owner: string;
    readonly spender: string;
    readonly value: bigint;
    readonly nonce: bigint;
    readonly deadline: bigint;
  }
  const wanted = async (change: Partial<Permit> = {}): Promise<Permit> => {
    const { token, poolAddress } = world.deployed;
    const nonce = await token.nonces(owner.address);
    return {
      owner: owner.address,
      spender: poolAddress,
      value: SMALLEST_DEPOSIT,
      nonce,
      deadline: FOREVER,
      ...change,
    };
  };
  const sign = async (permit: Permit, signer = owner, domain: object = {}) =>
    signer.signTypedData({ ...(await tokenDomain(world.deployed)), ...domain }, { Permit: PERMIT }, permit);
  const submit = (permit: Permit, signature: string) => {
    const send = world.deployed.token.connect(relayer)["permit(address,address,uint256,uint256,bytes)"];
    return send(permit.owner, permit.spender, permit.value, permit.deadline, signature);
  };

  it("lets its spender transfer the sum once, without a transaction from the owner", async () => {
    const { token, pool, poolAddress } = world.deployed;
    const permit = await wanted();
    const signature = await sign(permit);
    await expect(submit(permit, signature))
      .to.emit(token, "Approval")
      .withArgs(owner.address, poolAddress, SMALLEST_DEPOSIT);
    await expect(submit(permit, signature)).to.be.revertedWith("EIP2612: invalid signature");
    await expect(pool.connect(owner).deposit([5n], [SMALLEST_DEPOSIT])).to.emit(pool, "Deposited");
    expect(await token.allowance(owner.address, poolAddress)).to.equal(0n);
  });

  it("is rejected if its content, signer, chain or time differs from what was signed", async () => {
    const permit = await wanted();
    const signature = await sign(permit);
    const invalid = (attempt: unknown, what: string) =>
      expect(attempt, what).to.be.revertedWith("EIP2612: invalid signature");
    for (const change of [{ value: permit.value + 1n }, { spender: relayer.address }, { deadline: FOREVER - 1n }])
      await invalid(submit({ ...permit, ...change }, signature), Object.keys(change).join());
    await invalid(submit({ ...permit, owner: relayer.address }, signature), "another owner");
    await invalid(submit({ ...permit, owner: ZeroAddress }, `0x${"00".repeat(65)}`), "nobody");
    await invalid(submit(permit, await sign(permit, relayer)), "another signer");
    await invalid(submit(permit, await sign(await wanted({ nonce: permit.nonce + 1n }))), "a later nonce");
    await invalid(submit(permit, await sign(permit, owner, { chainId: 1n })), "another chain");
    await invalid(submit(permit, await sign(permit, owner, { version: "1" })), "another version");
    const late = await wanted({ deadline: BigInt(await world.now()) - 1n });
    await expect(submit(late, await sign(late))).to.be.revertedWith("FiatTokenV2: permit is expired");
    expect(await world.deployed.token.nonces(owner.address), "the nonce is not consumed").to.equal(permit.nonce);
    await submit(permit, signature);
  });

  it("is rejected while the token is paused, and moves no tokens of a blocked account", async () => {
    const { token, pool } = world.deployed;
    const permit = await wanted();
    const signature = await sign(permit);
    await token.pause();
    await expect(submit(permit, signature)).to.be.revertedWith("Pausable: paused");
    await token.unpause();
    await token.blacklist(owner.address);
    await submit(permit, signature);
    await expect(pool.connect(owner).deposit([5n], [SMALLEST_DEPOSIT])).to.be.revertedWith(
      "Blacklistable: account is blacklisted",
    );
    await token.unBlacklist(owner.address);
  });
});
