// Deposits of tokens without EIP-3009: the wallet signs for Permit2, and the service relays.
import { depositAuthorizationNonce, PERMIT2 } from "@sotto/protocol";
import { post } from "@sotto/test-kit/http";
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { delegatedAccount, ownersWallet, type SmartAccount } from "@sotto/test-world/contract-wallets";
import { openPermit2Pool, type Permit2Pool } from "@sotto/test-world/permit2-pool";
import {
  environment,
  openService,
  openWorld,
  relayerKey,
  type TestService,
  type World,
} from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";
import {
  connectChain,
  createSeedWords,
  type DepositRequest,
  type DepositSigner,
  depositWithAuthorizationCall,
  MemoryStore,
  seedFromWords,
  sendCall,
  Wallet,
} from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, type HDNodeWallet, Interface } from "ethers";

const HELD = 100_000n;
const permit2 = new Interface(["function invalidateUnorderedNonces(uint256 word, uint256 mask)"]);

describe("deposits by Permit2", function () {
  slow(this, "a chain and a service");
  let world: World;
  let pool: Permit2Pool;
  let plain: Permit2Pool;
  let service: TestService;
  const relayer = relayerKey();
  const settings = () => ({
    SOTTO_POOL: pool.pool,
    SOTTO_DEPLOYMENT_BLOCK: String(pool.deploymentBlock),
    SOTTO_RELAYER_KEY: relayer,
  });

  before(async () => {
    world = await openWorld();
    pool = await openPermit2Pool(world, "PermitToken");
    plain = await openPermit2Pool(world, "PlainToken");
    service = await openService(settings());
  });
  after(() => service.close());

  const open = (of = pool) =>
    Wallet.open({
      chain: connectChain({ urls: [world.node.url], chainId: of.chainId }),
      chainId: of.chainId,
      pool: of.pool,
      deploymentBlock: of.deploymentBlock,
      seed: seedFromWords(createSeedWords()),
      store: new MemoryStore(),
      finality: 0,
      service: service.url,
    });
  const funded = async (from: string, of = pool) => {
    await (await of.tokenContract.getFunction("mint")(from, HELD)).wait();
    return from;
  };
  const newKey = async (of = pool): Promise<HDNodeWallet> => {
    const key = Account.createRandom();
    await funded(key.address, of);
    return key;
  };
  /** A signer that counts what it signed. */
  const counting = (signer: DepositSigner) => {
    const signed: string[] = [];
    const signTypedData: DepositSigner["signTypedData"] = (domain, types, message) => {
      signed.push(String(domain.name));
      return signer.signTypedData(domain, types, message);
    };
    return { signed, getAddress: () => signer.getAddress(), signTypedData };
  };
  const signerOf = ({ from, depositor }: SmartAccount): DepositSigner => ({
    getAddress: async () => from,
    signTypedData: (domain, types, message) => depositor.signTypedData(domain, types, message),
  });
  const allowance = (owner: string): Promise<bigint> => pool.tokenContract.getFunction("allowance")(owner, PERMIT2);
  /** Deposits through the service, and checks every balance. */
  const deposits = async (account: DepositSigner) => {
    const wallet = await open();
    const [from, held] = [await account.getAddress(), await pool.tokensOf(pool.pool)];
    const before = await pool.tokensOf(from);
    const funded = await wallet.fund({ amounts: [20_000n, 10_000n], account, until: "deposited" });
    expect(funded.gasPaidBy).to.equal(service.relayer);
    expect([await pool.tokensOf(from), await pool.tokensOf(pool.pool)]).to.deep.equal([
      before - 30_000n,
      held + 30_000n,
    ]);
    expect(wallet.balance().total).to.equal(30_000n);
    expect(await world.provider.getBalance(from)).to.equal(0n);
    await wallet.close();
  };
  const sign = async (account: DepositSigner, of = pool): Promise<DepositRequest> => {
    const wallet = await open(of);
    return wallet.authorizeDeposit({ amounts: [20_000n], account }).finally(() => wallet.close());
  };
  const send = (body: unknown) => post(`${service.url}/deposit`, body);

  it("of an account that has neither ether nor approved anything leave no allowance", async () => {
    const account = counting(await newKey());
    await deposits(account);
    expect([account.signed, await allowance(await account.getAddress())]).to.deep.equal([
      ["Plain Dollar", "Permit2"],
      0n,
    ]);
    await deposits(account);
  });

  it("of an account that approved Permit2 need one signature", async () => {
    const account = counting(await newKey());
    await pool.approve(await account.getAddress(), HELD);
    await deposits(account);
    expect([account.signed, await allowance(await account.getAddress())]).to.deep.equal([["Permit2"], HELD - 30_000n]);
  });

  it("of a contract account and of one with a delegation need an approval, and their own format of signatures", async () => {
    for (const account of [await ownersWallet(world), await delegatedAccount(world)]) {
      const signer = signerOf(account);
      await funded(account.from);
      expect(await rejection(sign(signer))).to.include({ code: "NOT_APPROVED" });
      await pool.approve(account.from, HELD);
      await deposits(signer);
    }
  });

  it("of a token without permits need an approval", async () => {
    const account = await newKey(plain);
    expect(await rejection(sign(account, plain))).to.include({ code: "NOT_APPROVED" });
    await plain.approve(account.address, HELD);
    const request = await sign(account, plain);
    await sendCall(world.depositor, depositWithAuthorizationCall(request));
    expect(await plain.tokensOf(plain.pool)).to.equal(20_000n);
  });

  it("are refused with another signature, permit, note or time than the account signed", async () => {
    const request = await sign(await newKey());
    const other = await sign(await newKey());
    const refused = async (change: object) => (await send({ ...request, ...change })).body["code"];
    for (const change of [
      { ownerTags: ["7"] },
      { amounts: ["20001"] },
      { salt: other.salt },
      { validBefore: String(Number(request.validBefore) + 1) },
      { validAfter: "1" },
      { signature: other.signature },
      { permit2: other.permit2 },
      { permit2: undefined },
    ])
      expect(await refused(change), JSON.stringify(change)).to.equal("AUTHORIZATION_MISMATCH");
    expect(await refused({ permit2: {} })).to.equal("NOT_APPROVED");
    for (const permit of ["0x", 5, `0x${"11".repeat(66)}`])
      expect(await refused({ permit2: { permit } })).to.equal("INVALID_REQUEST");
    expect((await send(request)).body["status"]).to.equal("success");
    expect((await send(request)).body["status"]).to.equal("success");
  });

  it("are executed once if the service is killed when it has stored the transaction", async () => {
    const account = await newKey();
    const request = await sign(account);
    const place = { SOTTO_POOL: pool.pool, SOTTO_DEPLOYMENT_BLOCK: String(pool.deploymentBlock) };
    const files = { ...environment(world, temporaryFolder("permit2")), ...place, SOTTO_LOG_LEVEL: "info" };
    const killed = await startProcess(files, () => undefined, /"kind":"deposit".*"transaction stored"/);
    const cut = await post(`${killed.url}/deposit`, request).catch(() => "no answer");
    expect([cut, await killed.ended]).to.deep.equal(["no answer", "SIGKILL"]);
    const next = await startProcess(files);
    try {
      const { body } = await post(`${next.url}/deposit`, request);
      expect(body["status"], JSON.stringify(body)).to.equal("success");
      expect((await post(`${next.url}/deposit`, request)).body).to.deep.equal(body);
      const uses = await pool.poolContract.queryFilter(
        pool.poolContract.filters["AuthorizationUsed"]!(account.address),
      );
      expect(uses.map(({ transactionHash }) => transactionHash)).to.deep.equal([body["txSignature"]]);
      expect(await pool.tokensOf(account.address)).to.equal(HELD - 20_000n);
    } finally {
      await stopProcess(next);
    }
  });

  it("that somebody else submitted are found by the pool's event, and cancelled ones fail", async () => {
    const elsewhere = await sign(await newKey());
    const { hash } = await sendCall(world.depositor, depositWithAuthorizationCall(elsewhere));
    expect((await send(elsewhere)).body).to.include({ status: "success", txSignature: hash });

    const key = (await newKey()).connect(world.provider);
    const cancelled = await sign(key);
    const found = pool.poolContract.filters["AuthorizationUsed"]!(key.address);
    const notes = { ownerTags: cancelled.ownerTags.map(BigInt), amounts: cancelled.amounts.map(BigInt) };
    const nonce = BigInt(depositAuthorizationNonce(notes, cancelled.salt));
    const data = permit2.encodeFunctionData("invalidateUnorderedNonces", [nonce >> 8n, 1n << (nonce & 255n)]);
    await world.provider.send("hardhat_setBalance", [key.address, "0xde0b6b3a7640000"]);
    await (await key.sendTransaction({ to: PERMIT2, data })).wait();
    expect((await send(cancelled)).body).to.include({ status: "failed", reason: "AUTHORIZATION_SPENT" });
    expect(await pool.poolContract.queryFilter(found)).to.have.length(0);
  });
});
