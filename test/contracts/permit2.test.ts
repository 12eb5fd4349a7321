// Deposits of tokens without EIP-3009, by Permit2. The contract at its address is the real one.
import {
  depositAuthorizationNonce,
  PERMIT_TYPES,
  PERMIT2,
  PERMIT2_DEPOSIT_TYPES,
  permit2Domain,
  permit2Message,
  permitMessage,
} from "@sotto/protocol";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import {
  type Connection,
  connect,
  poolArguments,
  type Signer,
  SMALLEST_DEPOSIT,
} from "@sotto/test-pool/hardhat/deploy";
import { placePermit2 } from "@sotto/test-pool/permit2";
import { expect } from "chai";
import { concat, type HDNodeWallet, Interface, MaxUint256, Wallet } from "ethers";
import type { PermitToken, PlainToken, ShieldedPool } from "../../types/ethers-contracts/index.js";

const FOREVER = 2n ** 40n;
const SUM = SMALLEST_DEPOSIT * 4n;
const CHAIN_ID = 31337n;
const permit2Abi = new Interface([
  "function nonceBitmap(address owner, uint256 word) view returns (uint256)",
  "function invalidateUnorderedNonces(uint256 word, uint256 mask)",
  "function permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) details, address owner, bytes signature)",
  "error InvalidNonce()",
  "error InvalidSigner()",
  "error InvalidContractSignature()",
  "error SignatureExpired(uint256 deadline)",
]);

interface Deposit {
  readonly from: string;
  readonly ownerTags: readonly bigint[];
  readonly amounts: readonly bigint[];
  readonly salt: string;
  readonly validBefore: bigint;
}

describe("deposit by Permit2", function () {
  slow(this, "transactions on a chain in this process");
  const random = new Random("permit2");
  let connection: Connection;
  let relayer: Signer;
  let token: PermitToken;
  let plain: PlainToken;
  let pool: ShieldedPool;
  let plainPool: ShieldedPool;
  let payer: HDNodeWallet;

  before(async () => {
    connection = await connect();
    const { ethers } = connection;
    [relayer] = (await ethers.getSigners()) as [Signer];
    token = await ethers.deployContract("PermitToken");
    plain = await ethers.deployContract("PlainToken");
    const args = await poolArguments(connection, await token.getAddress());
    pool = await ethers.deployContract("ShieldedPool", [...args]);
    plainPool = await ethers.deployContract("ShieldedPool", [await plain.getAddress(), ...args.slice(1)] as never);
  });

  beforeEach(async () => {
    payer = Wallet.createRandom().connect(connection.ethers.provider) as HDNodeWallet;
    await token.mint(payer.address, SUM * 10n);
    await plain.mint(payer.address, SUM * 10n);
  });

  const wanted = (change: Partial<Deposit> = {}): Deposit => ({
    from: payer.address,
    ownerTags: [random.field(), random.field()],
    amounts: [SMALLEST_DEPOSIT * 3n, SMALLEST_DEPOSIT],
    salt: random.bytes32(),
    validBefore: FOREVER,
    ...change,
  });
  const messageOf = async (deposit: Deposit, of = pool) =>
    permit2Message({ ...deposit, pool: await of.getAddress(), token: await of.token() });
  const sign = async (deposit: Deposit, signer: HDNodeWallet = payer, of = pool) =>
    signer.signTypedData(permit2Domain(CHAIN_ID), PERMIT2_DEPOSIT_TYPES, await messageOf(deposit, of));
  const signPermit = async (deposit: Deposit, nonce = 0n) => {
    const domain = {
      name: "Plain Dollar",
      version: "1",
      chainId: CHAIN_ID,
      verifyingContract: await token.getAddress(),
    };
    return payer.signTypedData(domain, PERMIT_TYPES, permitMessage(deposit.from, nonce, await messageOf(deposit)));
  };
  const send = (
    { from, ownerTags, amounts, salt, validBefore }: Deposit,
    signature: string,
    permit = "0x",
    to = pool,
  ) =>
    to
      .connect(relayer)
      .depositWithPermit2(from, [...ownerTags], [...amounts], salt, validBefore - 1n, signature, permit);
  const reverts = (sent: Promise<unknown>, error: string, what?: string) =>
    expect(sent, what).to.be.revertedWithCustomError({ interface: permit2Abi }, error);
  const approve = (owner: HDNodeWallet, amount = MaxUint256) => impersonate(owner.address, amount);
  /** The approval that the account sent once, without giving it ether. */
  const impersonate = async (owner: string, amount: bigint) => {
    const { ethers, networkHelpers } = connection;
    await networkHelpers.setBalance(owner, 10n ** 18n);
    await networkHelpers.impersonateAccount(owner);
    const signer = await ethers.getSigner(owner);
    for (const each of [token, plain]) await each.connect(signer).approve(PERMIT2, amount);
    await networkHelpers.stopImpersonatingAccount(owner);
    await networkHelpers.setBalance(owner, 0n);
  };
  const queued = async (of = pool) => (await of.queue()).size;

  it("reverts on a chain without Permit2", async () => {
    const deposit = wanted();
    await expect(send(deposit, await sign(deposit), await signPermit(deposit))).to.be.revertedWithoutReason(
      connection.ethers,
    );
    await placePermit2((method, params) => connection.provider.request({ method, params }));
  });

  it("needs no ether and no earlier approval if the token has permits, and approves no more than the deposit", async () => {
    const deposit = wanted();
    const [before, nonce] = [await queued(), depositAuthorizationNonce(deposit, deposit.salt)];
    const sent = send(deposit, await sign(deposit), await signPermit(deposit));
    await expect(sent).to.emit(pool, "AuthorizationUsed").withArgs(payer.address, nonce);
    await expect(sent).to.changeTokenBalances(connection.ethers, token, [payer, pool], [-SUM, SUM]);
    expect([(await queued()) - before, await token.allowance(payer.address, PERMIT2)]).to.deep.equal([2n, 0n]);
    expect(await connection.ethers.provider.getBalance(payer.address)).to.equal(0n);
  });

  it("takes a token without permits from an account that approved Permit2", async () => {
    const deposit = wanted();
    const signature = await sign(deposit, payer, plainPool);
    await expect(send(deposit, signature, "0x", plainPool)).to.be.revertedWith("TRANSFER_FROM_FAILED");
    await approve(payer);
    // A permit that the token does not know changes nothing.
    await expect(send(deposit, signature, `0x${"11".repeat(65)}`, plainPool)).to.changeTokenBalances(
      connection.ethers,
      plain,
      [payer, plainPool],
      [-SUM, SUM],
    );
  });

  it("succeeds if somebody submitted the permit first", async () => {
    const deposit = wanted();
    const permit = await signPermit(deposit);
    const [v, r, s] = [`0x${permit.slice(130)}`, permit.slice(0, 66), `0x${permit.slice(66, 130)}`];
    await token.connect(relayer).permit(payer.address, PERMIT2, SUM, deposit.validBefore - 1n, v, r, s);
    await (await send(deposit, await sign(deposit), permit)).wait();
  });

  it("succeeds with a permit that the token refuses, if an earlier approval is enough", async () => {
    await approve(payer, SUM);
    const deposit = wanted();
    await (await send(deposit, await sign(deposit), await signPermit(deposit, 5n))).wait();
    expect(await token.allowance(payer.address, PERMIT2)).to.equal(0n);
  });

  it("without an allowance or a valid permit takes nothing", async () => {
    const deposit = wanted();
    const signature = await sign(deposit);
    const thief = Wallet.createRandom();
    const other = wanted({ amounts: [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT] });
    const permits = ["0x", `0x${"00".repeat(65)}`, await signPermit(other), await signPermit(deposit, 1n)];
    for (const permit of [...permits, await thief.signMessage("a permit")])
      await expect(send(deposit, signature, permit)).to.be.revertedWith("TRANSFER_FROM_FAILED");
    await (await send(deposit, signature, await signPermit(deposit))).wait();
  });

  it("rejects other owners, amounts, notes, salts, deadlines and depositors than were signed", async () => {
    await approve(payer);
    const victim = Wallet.createRandom();
    await token.mint(victim.address, SUM);
    await approve(victim as never);
    const deposit = wanted();
    const signature = await sign(deposit);
    const thief = random.field();
    const [tag, other] = deposit.ownerTags as [bigint, bigint];
    const changes: Partial<Deposit>[] = [
      { ownerTags: [thief, other] },
      { ownerTags: [other, tag] },
      { amounts: [SMALLEST_DEPOSIT, SMALLEST_DEPOSIT * 3n] },
      { amounts: [SMALLEST_DEPOSIT * 2n, SMALLEST_DEPOSIT] },
      { ownerTags: [thief], amounts: [SUM] },
      { ownerTags: [tag, other, thief], amounts: [SMALLEST_DEPOSIT * 2n, SMALLEST_DEPOSIT, SMALLEST_DEPOSIT] },
      { salt: random.bytes32() },
      { validBefore: FOREVER + 1n },
      { from: victim.address },
    ];
    for (const change of changes)
      await reverts(send({ ...deposit, ...change }, signature), "InvalidSigner", Object.keys(change).join());
    await (await send(deposit, signature)).wait();
    await reverts(send(deposit, signature), "InvalidNonce");
  });

  it("is bound to pool, token and chain", async () => {
    await approve(payer);
    const deposit = wanted();
    const message = await messageOf(deposit);
    const types = PERMIT2_DEPOSIT_TYPES;
    const here = permit2Domain(CHAIN_ID);
    const elsewhere = [
      await sign(deposit, payer, plainPool),
      await payer.signTypedData(here, types, { ...message, spender: relayer.address }),
      await payer.signTypedData(permit2Domain(1n), types, message),
      await payer.signTypedData({ ...here, verifyingContract: await pool.getAddress() }, types, message),
      await sign(deposit, Wallet.createRandom() as HDNodeWallet),
    ];
    for (const signature of elsewhere) await reverts(send(deposit, signature), "InvalidSigner");
    await (await send(deposit, await sign(deposit))).wait();
  });

  it("cannot be taken by anybody but the pool", async () => {
    await approve(payer);
    const deposit = wanted();
    const signature = await sign(deposit);
    const message = await messageOf(deposit);
    const steal = (to: string) => {
      const details = { to, requestedAmount: SUM };
      const data = permit2Abi.encodeFunctionData("permitTransferFrom", [message, details, payer.address, signature]);
      return relayer.sendTransaction({ to: PERMIT2, data });
    };
    for (const to of [relayer.address, await pool.getAddress()]) await reverts(steal(to), "InvalidSigner");
    await (await send(deposit, signature)).wait();
  });

  it("expires, and can be cancelled", async () => {
    await approve(payer);
    const now = BigInt((await connection.ethers.provider.getBlock("latest"))!.timestamp);
    const late = wanted({ validBefore: now });
    await reverts(send(late, await sign(late)), "SignatureExpired");
    const deposit = wanted();
    const nonce = BigInt(depositAuthorizationNonce(deposit, deposit.salt));
    const data = permit2Abi.encodeFunctionData("invalidateUnorderedNonces", [nonce >> 8n, 1n << (nonce & 255n)]);
    await connection.networkHelpers.setBalance(payer.address, 10n ** 18n);
    await (await payer.sendTransaction({ to: PERMIT2, data })).wait();
    await reverts(send(deposit, await sign(deposit)), "InvalidNonce");
  });

  it("checks the notes before it calls anybody", async () => {
    const small = wanted({ amounts: [SMALLEST_DEPOSIT, 1n] });
    await expect(send(small, "0x")).to.be.revertedWithCustomError(pool, "AmountTooSmall");
    const zero = wanted({ ownerTags: [0n, 1n] });
    await expect(send(zero, "0x")).to.be.revertedWithCustomError(pool, "InvalidOwnerTag");
  });

  it("takes signatures of contract accounts, in their own format", async () => {
    const owners = [Wallet.createRandom(), Wallet.createRandom()] as HDNodeWallet[];
    const { ethers } = connection;
    const account = await ethers.deployContract("OwnersWallet", [owners.map(({ address }) => address)]);
    const from = await account.getAddress();
    await token.mint(from, SUM);
    await impersonate(from, SUM);
    const deposit = wanted({ from });
    const parts = await Promise.all(owners.map((owner) => sign(deposit, owner)));
    await reverts(send(deposit, parts[0]!), "InvalidContractSignature");
    await expect(send(deposit, concat(parts))).to.changeTokenBalances(ethers, token, [from, pool], [-SUM, SUM]);
  });

  it("takes signatures of an account with a delegation as its code decides", async () => {
    const { ethers } = connection;
    await approve(payer);
    const session = Wallet.createRandom() as HDNodeWallet;
    const code = await (await ethers.deployContract("DelegatedAccount", [session.address])).getAddress();
    const nonce = await payer.getNonce();
    const authorization = await payer.authorize({ address: code, nonce, chainId: CHAIN_ID });
    await (await relayer.sendTransaction({ type: 4, to: relayer.address, authorizationList: [authorization] })).wait();
    const deposit = wanted();
    const stranger = await sign(deposit, Wallet.createRandom() as HDNodeWallet);
    await reverts(send(deposit, concat(["0x01", stranger])), "InvalidContractSignature");
    await (await send(deposit, concat(["0x01", await sign(deposit, session)]))).wait();
    const own = wanted();
    await (await send(own, await sign(own))).wait();
  });
});
