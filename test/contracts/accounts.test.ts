// Deposits of contract accounts (EIP-1271) and of accounts with a delegation (EIP-7702).
import { slow } from "@sotto/test-kit/slow";
import type { SponsoredDeposit, TypedDataSigner } from "@sotto/test-pool/authorization";
import { authorize, depositMessage, sendDeposit } from "@sotto/test-pool/hardhat/authorization";
import { poolArguments, type Signer, SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import { concat, type HDNodeWallet, Wallet } from "ethers";

const FOREVER = 2n ** 40n;
const INVALID = "FiatTokenV2: invalid signature";
const MAGIC = `0x1626ba7e${"00".repeat(28)}`;
/** The answers of contracts/test/TroublesomeWallet.sol. */
const ANSWER = { Revert: 0, RevertWithMagic: 1, Bytes: 2, BurnGas: 3, HugeReturn: 4, Write: 5 };

describe("deposit of a smart account", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  let relayer: Signer;
  const owners = [Wallet.createRandom(), Wallet.createRandom(), Wallet.createRandom()];
  const stranger = Wallet.createRandom();

  before(async () => {
    world = await PoolWorld.create("accounts");
    relayer = world.deployed.signers[3]!;
  });

  const deploy = async (name: string, ...args: unknown[]): Promise<string> =>
    (await world.deployed.connection.ethers.deployContract(name, args)).getAddress();
  const tokensOf = (account: string) => world.deployed.token.balanceOf(account);
  const wanted = (from: string): SponsoredDeposit => ({
    from,
    ownerTags: [world.random.field(), world.random.field()],
    amounts: [SMALLEST_DEPOSIT * 3n, SMALLEST_DEPOSIT],
    salt: world.random.bytes32(),
    validAfter: 0n,
    validBefore: FOREVER,
  });
  const sign = (deposit: SponsoredDeposit, signer: TypedDataSigner) =>
    authorize(world.deployed, signer, depositMessage(world.deployed, deposit));
  const send = (deposit: SponsoredDeposit, signature: string) =>
    sendDeposit(world.deployed, relayer, deposit, signature);
  const signByAll = async (deposit: SponsoredDeposit, signers: readonly HDNodeWallet[]) =>
    concat(await Promise.all(signers.map((owner) => sign(deposit, owner))));
  const funded = async (account: string): Promise<string> => {
    await world.deployed.token.mint(account, SMALLEST_DEPOSIT * 20n);
    return account;
  };

  /** Sends the deposit and checks that exactly its tokens moved and exactly its notes were made. */
  const deposits = async (deposit: SponsoredDeposit, signature: string) => {
    const pool = world.deployed.poolAddress;
    const [payer, held] = [await tokensOf(deposit.from), await tokensOf(pool)];
    const first = world.queue.size;
    await world.mined(send(deposit, signature));
    expect([await tokensOf(deposit.from), await tokensOf(pool)]).to.deep.equal([
      payer - SMALLEST_DEPOSIT * 4n,
      held + SMALLEST_DEPOSIT * 4n,
    ]);
    expect([world.queue.size - first, await world.chain()]).to.deep.equal([2, world.queue.chain]);
    await expect(send(deposit, signature)).to.be.revertedWith("FiatTokenV2: authorization is used or canceled");
  };

  it("with one owner takes a signature of 65 bytes of that owner only", async () => {
    const account = await funded(await deploy("ContractWallet", owners[0]!.address));
    const deposit = wanted(account);
    await expect(send(deposit, await sign(deposit, stranger))).to.be.revertedWith(INVALID);
    const signature = await sign(deposit, owners[0]!);
    // The signature names the account, so it moves nothing of the owner's own tokens.
    await funded(owners[0]!.address);
    await expect(send({ ...deposit, from: owners[0]!.address }, signature)).to.be.revertedWith(INVALID);
    await deposits(deposit, signature);
  });

  it("with several owners takes their signatures as a whole, and binds the notes", async () => {
    const account = await funded(
      await deploy(
        "OwnersWallet",
        owners.map(({ address }) => address),
      ),
    );
    const deposit = wanted(account);
    const signature = await signByAll(deposit, owners);
    const thief = world.random.field();
    const changes: Partial<SponsoredDeposit>[] = [
      { ownerTags: [thief, deposit.ownerTags[1]!] },
      { ownerTags: deposit.ownerTags.toReversed() },
      { amounts: [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT * 3n] },
      { ownerTags: [thief], amounts: [SMALLEST_DEPOSIT * 4n] },
      { salt: world.random.bytes32() },
      { validBefore: FOREVER + 1n },
    ];
    for (const change of changes)
      await expect(send({ ...deposit, ...change }, signature), Object.keys(change).join()).to.be.revertedWith(INVALID);
    const twoOwners = await signByAll(deposit, owners.slice(0, 2));
    const wrong = [twoOwners, `${signature}00`, "0x", await signByAll(deposit, [...owners].reverse())];
    for (const one of [...wrong, concat([twoOwners, await sign(deposit, stranger)])])
      await expect(send(deposit, one)).to.be.revertedWith(INVALID);
    await deposits(deposit, signature);
  });

  it("is bound to chain, pool and token by what the owners sign", async () => {
    const account = await funded(await deploy("ContractWallet", owners[0]!.address));
    const deposit = wanted(account);
    const message = depositMessage(world.deployed, deposit);
    const here = world.deployed;
    const otherPool = { ...message, to: world.random.address() };
    const elsewhere = [
      await authorize(here, owners[0]!, otherPool),
      await authorize({ ...here, chainId: here.chainId + 1n }, owners[0]!, message),
      await authorize({ ...here, token: here.pool as never }, owners[0]!, message),
      await authorize(here, owners[0]!, message, "TransferWithAuthorization"),
    ];
    for (const signature of elsewhere) await expect(send(deposit, signature)).to.be.revertedWith(INVALID);
    await deposits(deposit, await sign(deposit, owners[0]!));
  });

  it("is refused if its code reverts, burns gas, writes, or returns anything but the magic word", async () => {
    const cases: [string, number, string][] = [
      ["reverts", ANSWER.Revert, "0x"],
      ["reverts with the magic word", ANSWER.RevertWithMagic, MAGIC],
      ["returns nothing", ANSWER.Bytes, "0x"],
      ["returns another word", ANSWER.Bytes, `0x${"00".repeat(31)}01`],
      ["burns all gas", ANSWER.BurnGas, "0x"],
      ["returns a megabyte", ANSWER.HugeReturn, "0x"],
      ["writes during the check", ANSWER.Write, MAGIC],
    ];
    for (const [what, answer, returned] of cases) {
      const account = await funded(await deploy("TroublesomeWallet", answer, returned));
      for (const signature of ["0x01", `0x${"11".repeat(65)}`])
        await expect(send(wanted(account), signature), what).to.be.revertedWith(INVALID);
    }
    const accepting = await funded(await deploy("TroublesomeWallet", ANSWER.Bytes, MAGIC));
    await deposits(wanted(accepting), "0x01");
  });

  it("with a delegation takes signatures of its key and of a session key, and its key's alone afterwards", async () => {
    const { ethers } = world.deployed.connection;
    const session = Wallet.createRandom();
    const account = Wallet.createRandom().connect(ethers.provider);
    await funded(account.address);
    const code = await deploy("DelegatedAccount", session.address);
    const delegate = async (target: string) => {
      const nonce = await account.getNonce();
      const authorization = await account.authorize({ address: target, nonce, chainId: world.deployed.chainId });
      const sent = await relayer.sendTransaction({ type: 4, to: relayer.address, authorizationList: [authorization] });
      await sent.wait();
    };
    const bySession = async (deposit: SponsoredDeposit) => concat(["0x01", await sign(deposit, session)]);

    const early = wanted(account.address);
    await expect(send(early, await bySession(early))).to.be.revertedWith(INVALID);
    await delegate(code);
    expect(await ethers.provider.getCode(account.address)).to.equal(`0xef0100${code.slice(2).toLowerCase()}`);
    await deposits(early, await bySession(early));
    const own = wanted(account.address);
    await deposits(own, await sign(own, account));
    for (const signer of [stranger, session]) {
      const deposit = wanted(account.address);
      await expect(send(deposit, await sign(deposit, signer))).to.be.revertedWith(INVALID);
      const wrong = concat(["0x01", await sign(deposit, stranger)]);
      await expect(send(deposit, wrong)).to.be.revertedWith(INVALID);
    }
    await delegate(`0x${"00".repeat(20)}`);
    const late = wanted(account.address);
    await expect(send(late, await bySession(late))).to.be.revertedWith(INVALID);
    await deposits(late, await sign(late, account));
  });

  it("with a delegation to code without EIP-1271 is refused, because the token asks the code", async () => {
    const { ethers } = world.deployed.connection;
    const account = Wallet.createRandom().connect(ethers.provider);
    await funded(account.address);
    const { chainId, token } = world.deployed;
    const authorization = await account.authorize({ address: await token.getAddress(), nonce: 0, chainId });
    await (await relayer.sendTransaction({ type: 4, to: relayer.address, authorizationList: [authorization] })).wait();
    const deposit = wanted(account.address);
    await expect(send(deposit, await sign(deposit, account))).to.be.revertedWith(INVALID);
  });

  it("needs a token that takes whole signatures", async () => {
    const { ethers } = world.deployed.connection;
    const plain = await ethers.deployContract("HostileToken");
    const args = await poolArguments(world.deployed.connection, await plain.getAddress());
    const pool = await ethers.deployContract("ShieldedPool", [...args]);
    const { from, ownerTags, amounts, salt, validAfter, validBefore } = wanted(owners[0]!.address);
    const attempt = (signature: string) =>
      pool.depositWithAuthorization.staticCall(
        from,
        [...ownerTags],
        [...amounts],
        salt,
        validAfter,
        validBefore,
        signature,
      );
    await plain.mint(from, SMALLEST_DEPOSIT * 4n);
    await expect(attempt(`0x${"11".repeat(66)}`)).to.be.revertedWithoutReason(ethers);
    await attempt(`0x${"11".repeat(65)}`);
  });
});
