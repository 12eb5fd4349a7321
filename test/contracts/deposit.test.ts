import { FIELD_MODULUS } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import type { SponsoredDeposit } from "@sotto/test-pool/authorization";
import { authorize, depositMessage, sendDeposit, tokenDomain } from "@sotto/test-pool/hardhat/authorization";
import { type Signer, SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld } from "@sotto/test-pool/hardhat/pool-world";
import { expect } from "chai";
import { Signature, Wallet } from "ethers";

const FOREVER = 2n ** 40n;
const AUTHORIZER = { name: "authorizer", type: "address" };
const NONCE = { name: "nonce", type: "bytes32" };

describe("deposit", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let world: PoolWorld;
  const balance = (account: string) => world.deployed.token.balanceOf(account);
  const poolBalance = () => balance(world.deployed.poolAddress);

  before(async () => {
    world = await (await PoolWorld.create("deposit")).withRoot();
  });

  afterEach(async () => {
    const { size } = await world.pool.queue();
    const [chain, model] = [await world.chain(), world.queue.chain];
    expect([chain, size], "the queue of the model").to.deep.equal([model, BigInt(world.queue.size)]);
  });

  describe("by approval", () => {
    it("transfers the sum and queues one note per tag, with the protocol's commitments", async () => {
      const amounts = [SMALLEST_DEPOSIT, 123_456_789n, 2n ** 48n];
      const tags = amounts.map(() => world.random.field());
      const [before, first] = [await poolBalance(), world.queue.size];
      const call = world.pool.deposit(tags, amounts);
      for (const [i, amount] of amounts.entries()) {
        const commitment = world.depositCommitment(amount, tags[i]!, first + i);
        await expect(call)
          .to.emit(world.pool, "Deposited")
          .withArgs(tags[i]!, amount, commitment, first + i);
      }
      await world.mined(call);
      expect((await poolBalance()) - before).to.equal(amounts.reduce((a, b) => a + b));
      expect(await world.chain()).to.equal(world.queue.chain);
    });

    it("creates a different commitment each time for the same tag and amount", async () => {
      const receipt = await world.mined(world.pool.deposit([5n, 5n], [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT]));
      const events = receipt.logs.map((log) => world.pool.interface.parseLog(log)).filter((event) => event !== null);
      const [a, b] = events.filter(({ name }) => name === "Deposited").map(({ args }) => args["commitment"]);
      expect(a).to.not.equal(b);
    });

    it("rejects invalid owner tags, amounts below the minimum deposit, and lists of different lengths", async () => {
      const { pool } = world;
      const refused = (tags: bigint[], amounts: bigint[]) => expect(pool.deposit.staticCall(tags, amounts)).to.be;
      for (const tag of [0n, FIELD_MODULUS, FIELD_MODULUS + 5n, 2n ** 256n - 1n]) {
        await refused([5n, tag], [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT])
          .revertedWithCustomError(pool, "InvalidOwnerTag")
          .withArgs(tag);
      }
      for (const amount of [0n, SMALLEST_DEPOSIT - 1n]) {
        await refused([5n, 6n], [SMALLEST_DEPOSIT, amount])
          .revertedWithCustomError(pool, "AmountTooSmall")
          .withArgs(amount, SMALLEST_DEPOSIT);
      }
      await refused([], []).revertedWithCustomError(pool, "InvalidNoteCount").withArgs(0n, 0n);
      await refused([5n], []).revertedWithCustomError(pool, "InvalidNoteCount").withArgs(1n, 0n);
      await refused([5n], [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT]).revertedWithCustomError(pool, "InvalidNoteCount");
    });

    it("rejects a deposit that the token rejects: no allowance, no balance, a blocked depositor, a pause", async () => {
      const { pool, deployed } = world;
      const { token } = deployed;
      const poor = deployed.signers[7]!;
      const attempt = () => pool.connect(poor).deposit.staticCall([5n], [SMALLEST_DEPOSIT]);
      await expect(attempt()).to.be.revertedWith("ERC20: transfer amount exceeds allowance");
      await token.connect(poor).approve(deployed.poolAddress, SMALLEST_DEPOSIT);
      await expect(attempt()).to.be.revertedWith("ERC20: transfer amount exceeds balance");
      await token.mint(poor.address, SMALLEST_DEPOSIT);
      await attempt();
      await token.blacklist(poor.address);
      await expect(attempt()).to.be.revertedWith("Blacklistable: account is blacklisted");
      await token.unBlacklist(poor.address);
      await token.pause();
      await expect(attempt()).to.be.revertedWith("Pausable: paused");
      await token.unpause();
    });

    it("charges the exact sum without overflow, for any number of notes", async () => {
      const tags = Array.from({ length: 5 }, () => world.random.field());
      const attempt = world.pool.deposit.staticCall(
        tags,
        tags.map(() => 2n ** 64n - 1n),
      );
      await expect(attempt).to.be.revertedWith("ERC20: transfer amount exceeds allowance");
    });
  });

  describe("by EIP-3009, submitted by anyone", () => {
    let depositor: Signer;
    let relayer: Signer;

    const wanted = (change: Partial<SponsoredDeposit> = {}): SponsoredDeposit => ({
      from: depositor.address,
      ownerTags: [world.random.field(), world.random.field()],
      amounts: [SMALLEST_DEPOSIT * 3n, SMALLEST_DEPOSIT],
      salt: world.random.bytes32(),
      validAfter: 0n,
      validBefore: FOREVER,
      ...change,
    });
    const sign = (deposit: SponsoredDeposit, signer = depositor) =>
      authorize(world.deployed, signer, depositMessage(world.deployed, deposit));

    before(async () => {
      [, , depositor, relayer] = world.deployed.signers as [Signer, Signer, Signer, Signer];
      await world.deployed.token.mint(depositor.address, SMALLEST_DEPOSIT * 100n);
    });

    it("needs no ether, no allowance and no transaction from the depositor", async () => {
      const deposit = wanted();
      const nonce = await depositor.getNonce();
      const [before, first] = [await poolBalance(), world.queue.size];
      const receipt = await world.mined(sendDeposit(world.deployed, relayer, deposit, await sign(deposit)));
      expect((await poolBalance()) - before).to.equal(SMALLEST_DEPOSIT * 4n);
      expect(await depositor.getNonce()).to.equal(nonce);
      for (const [i, amount] of deposit.amounts.entries()) {
        const commitment = world.depositCommitment(amount, deposit.ownerTags[i]!, first + i);
        const args = [deposit.ownerTags[i]!, amount, commitment, first + i] as const;
        await expect(receipt)
          .to.emit(world.pool, "Deposited")
          .withArgs(...args);
      }
    });

    it("rejects other owners, other amounts, more or fewer notes, and another salt", async () => {
      const deposit = wanted();
      const signature = await sign(deposit);
      const thief = world.random.field();
      const [tag, other] = deposit.ownerTags as [bigint, bigint];
      const total = SMALLEST_DEPOSIT * 4n;
      const redirections: Partial<SponsoredDeposit>[] = [
        { ownerTags: [thief, other] },
        { ownerTags: [tag, thief] },
        { ownerTags: [other, tag] },
        { amounts: [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT * 3n] },
        { ownerTags: [thief], amounts: [total] },
        { ownerTags: [tag, other, thief], amounts: [SMALLEST_DEPOSIT * 2n, SMALLEST_DEPOSIT, SMALLEST_DEPOSIT] },
        { salt: world.random.bytes32() },
        { validBefore: FOREVER + 1n },
        { validAfter: 1n },
        { from: world.deployed.signers[0]!.address },
      ];
      for (const change of redirections) {
        const attempt = sendDeposit(world.deployed, relayer, { ...deposit, ...change }, signature);
        await expect(attempt, Object.keys(change).join()).to.be.revertedWith("FiatTokenV2: invalid signature");
      }
      await world.mined(sendDeposit(world.deployed, relayer, deposit, signature));
    });

    it("cannot be submitted to the token directly, which would pay the pool without making a note", async () => {
      const deposit = wanted();
      const { v, r, s } = Signature.from(await sign(deposit));
      const { from, to, value, validAfter, validBefore, nonce } = depositMessage(world.deployed, deposit);
      const token = world.deployed.token.connect(relayer);
      const receive =
        token["receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"];
      const transfer =
        token["transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"];
      const args = [from, to, value, validAfter, validBefore, nonce, v, r, s] as const;
      await expect(receive(...args)).to.be.revertedWith("FiatTokenV2: caller must be the payee");
      await expect(transfer(...args)).to.be.revertedWith("FiatTokenV2: invalid signature");
    });

    it("accepts an authorization only once, and only if valid, not canceled and signed by the depositor", async () => {
      const once = wanted();
      const signature = await sign(once);
      await world.mined(sendDeposit(world.deployed, relayer, once, signature));
      const attempt = async (deposit: SponsoredDeposit, signer = depositor) =>
        expect(sendDeposit(world.deployed, relayer, deposit, await sign(deposit, signer))).to.be;
      await (await attempt(once)).revertedWith("FiatTokenV2: authorization is used or canceled");
      const now = BigInt(await world.now());
      await (await attempt(wanted({ validBefore: now }))).revertedWith("FiatTokenV2: authorization is expired");
      await (await attempt(wanted({ validAfter: now + 999n }))).revertedWith(
        "FiatTokenV2: authorization is not yet valid",
      );
      await (await attempt(wanted(), relayer)).revertedWith("FiatTokenV2: invalid signature");
      const canceled = wanted();
      const { nonce } = depositMessage(world.deployed, canceled);
      const types = { CancelAuthorization: [AUTHORIZER, NONCE] };
      const message = { authorizer: depositor.address, nonce };
      const cancel = Signature.from(await depositor.signTypedData(await tokenDomain(world.deployed), types, message));
      const { token } = world.deployed;
      await token["cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)"](
        depositor.address,
        nonce,
        cancel.v,
        cancel.r,
        cancel.s,
      );
      await (await attempt(canceled)).revertedWith("FiatTokenV2: authorization is used or canceled");
      const broke = wanted({ from: Wallet.createRandom().address });
      await (await attempt(broke)).revertedWith("FiatTokenV2: invalid signature");
    });

    it("accepts a second deposit of the same notes with another salt", async () => {
      const first = wanted();
      const second = { ...first, salt: world.random.bytes32() };
      for (const deposit of [first, second]) {
        await world.mined(sendDeposit(world.deployed, relayer, deposit, await sign(deposit)));
      }
    });

    it("rejects invalid notes before it calls the token", async () => {
      const deposit = wanted({ ownerTags: [1n, 2n], amounts: [SMALLEST_DEPOSIT, 1n] });
      const attempt = sendDeposit(world.deployed, relayer, deposit, await sign(deposit));
      await expect(attempt).to.be.revertedWithCustomError(world.pool, "AmountTooSmall");
    });
  });
});
