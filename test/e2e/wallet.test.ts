// The wallet with the contracts on a real node, with real proofs.

import { join } from "node:path";
import { deployLocal } from "@sotto/local/chain/deployment";
import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, decodeBundle } from "@sotto/protocol";
import { createProver, createVerifier, loadArtifacts, type Prover, type Verifier } from "@sotto/prover";
import { slow } from "@sotto/test-kit/slow";
import {
  appendCall,
  type Chain,
  connectChain,
  createSeedWords,
  depositWithAuthorizationCall,
  ethersProvider,
  MemoryStore,
  NoteAppender,
  type Payment,
  seedFromWords,
  sendCall,
  settleCall,
  splitAmount,
  ViewingWallet,
  Wallet,
  type WalletOptions,
  withdrawCall,
} from "@sotto/wallet";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { Wallet as Account, Contract, type JsonRpcApiProvider, type JsonRpcSigner } from "ethers";

const RESOURCE = "https://data.example/article/1";
const MERCHANT = `0x${"ab".repeat(20)}`;

describe("wallet on a real chain", function () {
  slow(this, "a chain and proofs");
  let node: LocalNode;
  let deployment: DeploymentManifest;
  let provider: JsonRpcApiProvider;
  let chain: Chain;
  let relayer: JsonRpcSigner;
  let token: Contract;
  let prover: Prover;
  let verifier: Verifier;
  let appender: NoteAppender;

  before(async () => {
    const artifacts = await loadArtifacts({ folder: join(import.meta.dirname, "..", "..", "circuits", "build") });
    prover = createProver(artifacts);
    verifier = createVerifier({ artifacts });
    node = await startNode();
    deployment = await deployLocal(node.url);
    chain = connectChain({ urls: [node.url], chainId: BigInt(deployment.chainId) });
    provider = ethersProvider(chain);
    relayer = await provider.getSigner(0);
    token = new Contract(
      deployment.token,
      ["function mint(address,uint256)", "function balanceOf(address) view returns (uint256)"],
      relayer,
    );
    appender = await NoteAppender.open({ ...place(), store: new MemoryStore(), prover });
  });
  after(async () => {
    provider?.destroy();
    await prover?.close();
    await node?.stop();
  });

  const place = () => ({
    chain,
    chainId: BigInt(deployment.chainId),
    pool: deployment.pool,
    deploymentBlock: deployment.deploymentBlock,
  });
  const open = (changes: Partial<WalletOptions> = {}) =>
    Wallet.open({
      ...place(),
      seed: seedFromWords(createSeedWords()),
      store: new MemoryStore(),
      prover,
      finality: 0,
      ...changes,
    });
  const recipient = (wallet: Wallet) => ({ wallet: MERCHANT, shieldedAddress: wallet.shieldedAddress });
  const settle = (...payments: Payment[]) =>
    sendCall(
      relayer,
      settleCall(
        deployment.pool,
        payments.map((payment) => payment.settle),
      ),
    );
  const append = async () => {
    await appender.scan();
    while (appender.queued > 0) {
      await sendCall(relayer, appendCall(deployment.pool, (await appender.prepare()).append));
      await appender.scan();
    }
  };
  /** Makes a deposit from an account with tokens but no ETH; the relayer submits it. */
  const fund = async (wallet: Wallet, amounts: bigint[]) => {
    const account = Account.createRandom();
    const total = amounts.reduce((sum, amount) => sum + amount, 0n);
    await (await token["mint"]!(account.address, total)).wait();
    const request = await wallet.authorizeDeposit({ amounts, account });
    await sendCall(relayer, depositWithAuthorizationCall(request));
    expect(await provider.getBalance(account.address)).to.equal(0n);
    expect(await token["balanceOf"]!(account.address)).to.equal(0n);
  };

  it("deposits without ETH, makes a payment that the recipient can read, and is restored from its words", async () => {
    const words = createSeedWords();
    const [payer, merchant] = [await open({ seed: seedFromWords(words) }), await open()];
    await fund(payer, [5_000_000n]);
    await append();
    await payer.scan();
    expect(payer.balance()).to.include({ spendable: 5_000_000n, total: 5_000_000n });

    const payment = await payer.pay({ recipient: recipient(merchant), amount: 1_250_000n, resourceUrl: RESOURCE });
    decodeBundle(payment.bundle);
    const { proof, publicSignals, amountProof, amountPublicSignals } = payment.bundle;
    expect(await verifier.verify("payment", proof, publicSignals)).to.equal(true);
    expect(await verifier.verify("elgamal_range", amountProof, amountPublicSignals)).to.equal(true);
    const receipt = await settle(payment);
    await payer.scan();
    expect(payer.status(payment.id)).to.include({ state: "settled", transactionHash: receipt.hash });

    const viewing = await ViewingWallet.open({
      ...place(),
      keys: merchant.viewingKeys({ lasting: true }),
      store: new MemoryStore(),
      finality: 0,
    });
    await viewing.scan();
    expect(viewing.received()[0]).to.include({ amount: 1_250_000n, transactionHash: receipt.hash, confirmed: true });

    const restored = await open({ seed: seedFromWords(words) });
    await append();
    await restored.scan();
    expect(restored.balance()).to.include({ spendable: 3_750_000n, total: 3_750_000n });
    await settle(await restored.pay({ recipient: recipient(merchant), amount: 750_000n, resourceUrl: RESOURCE }));
    await restored.scan();
    expect(restored.balance().total).to.equal(3_000_000n);
    await viewing.scan();
    expect(viewing.total()).to.equal(2_000_000n);

    await append();
    await merchant.scan();
    const fee = { amount: 20_000n, recipient: `0x${"fe".repeat(20)}` };
    const withdrawal = await merchant.withdraw({ recipient: MERCHANT, amount: 1_500_000n, fee });
    expect(withdrawal.notes).to.have.length(2);
    await sendCall(relayer, withdrawCall(deployment.pool, withdrawal.withdraw));
    await merchant.scan();
    expect(merchant.status(withdrawal.id).state).to.equal("settled");
    expect(await token["balanceOf"]!(MERCHANT)).to.equal(1_500_000n);
    expect(await token["balanceOf"]!(fee.recipient)).to.equal(20_000n);
    expect(merchant.balance().total).to.equal(480_000n);
  });

  it("makes parallel payments from a split deposit, settled in one batch", async () => {
    const [payer, merchant] = [await open(), await open()];
    await (await token["mint"]!(relayer.address, 3_000_000n)).wait();
    const calls = await payer.deposit({ amounts: splitAmount(3_000_000n, 3), account: relayer.address });
    await sendCall(relayer, calls.approve);
    await sendCall(relayer, calls.deposit);
    await append();
    const request = { recipient: recipient(merchant), amount: 400_000n, resourceUrl: RESOURCE };
    const payments = await Promise.all([payer.pay(request), payer.pay(request), payer.pay(request)]);
    expect(new Set(payments.map(({ nullifier }) => nullifier)).size).to.equal(3);
    await settle(...payments);
    await Promise.all([payer.scan(), merchant.scan()]);
    expect(payments.map(({ id }) => payer.status(id).state)).to.deep.equal(["settled", "settled", "settled"]);
    expect(payer.balance().total).to.equal(1_800_000n);
    expect(merchant.balance().total).to.equal(1_200_000n);
  });

  it("rescans its notes after a reorganization, even one that reverts a settled payment", async () => {
    const store = new SqliteStore(":memory:");
    const [payer, merchant] = [await open({ store }), await open()];
    await fund(payer, [2_000_000n]);
    await append();
    const before = await provider.send("evm_snapshot", []);
    const request = { recipient: recipient(merchant), amount: 500_000n, resourceUrl: RESOURCE };
    const payment = await payer.pay(request);
    await settle(payment);
    await append();
    await payer.scan();
    expect(payer.status(payment.id).state).to.equal("settled");
    const [settled] = payer.notes().filter(({ origin }) => origin === "change");

    // The chain drops these blocks; another wallet's deposit takes the leaf of the change note.
    expect(await provider.send("evm_revert", [before])).to.equal(true);
    const other = await open();
    await fund(other, [1_000_000n]);
    await append();
    const { rolledBack } = await payer.scan();
    expect(rolledBack).to.be.greaterThan(0);
    expect(payer.status(payment.id).state).to.equal("open");
    expect(payer.balance()).to.include({ held: 2_000_000n, total: 2_000_000n });

    // The same proof still settles, because the pool also knows its root on the new fork.
    await settle(payment);
    await append();
    await payer.scan();
    expect(payer.status(payment.id).state).to.equal("settled");
    const [again] = payer.notes().filter(({ origin }) => origin === "change");
    expect(again).to.include({ amount: 1_500_000n, state: "spendable" });
    expect(again!.leafIndex).to.be.greaterThan(settled!.leafIndex);
    await settle(await payer.pay(request));
    await payer.scan();
    expect(payer.balance().total).to.equal(1_000_000n);
  });
});
