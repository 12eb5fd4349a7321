// Operations that can no longer succeed must not delay others or cost more than they do.

import { WITHDRAWAL_SIGNAL } from "@sotto/protocol";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import {
  authorizedDeposit,
  enqueue,
  enqueueDeposit,
  enqueueWithdrawal,
  rounds,
  type Service,
  Services,
} from "@sotto/test-world/relayer/service";
import { expect } from "chai";
import { Contract, Wallet } from "ethers";

const DAY_MS = 86_400_000;
/** Fees of transactions that must come first in a block. */
const DEARER = { maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n, gasLimit: 200_000n };

describe("a relayer with dead operations", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  let node: FaultyNode;
  before(async () => {
    chain = await TestChain.open();
    node = await FaultyNode.start(chain.node.url);
  });
  after(() => node.stop());
  beforeEach(() => {
    services = new Services(chain);
  });
  afterEach(async () => {
    await services.stopAll();
    await chain.automine(true);
  });

  const newAccount = () => new Wallet(Wallet.createRandom().privateKey, chain.provider);
  const fund = async (account: Wallet, amount: bigint) =>
    (await chain.token.getFunction("mint")(account.address, amount)).wait();
  const pending = async () => (await chain.rpc("eth_pendingTransactions")) as { hash: string; nonce: string }[];
  const isMined = ({ store }: Service) =>
    eventually(async () => (await store.outbox.open()).every(({ state }) => state === "mined"));

  /** Transfers the account's tokens away with the first transaction of the next block. */
  async function takeTokens(account: Wallet, amount: bigint): Promise<void> {
    await chain.rpc("hardhat_setBalance", account.address, "0xde0b6b3a7640000");
    const token = new Contract(chain.deployment.token, ["function transfer(address, uint256)"], account);
    await token.getFunction("transfer")(chain.deployment.token, amount, DEARER);
  }

  /** Adds deposits of an account without tokens. Another transaction took the nonce of their transaction. */
  async function deadDeposits({ store }: Service, count: number): Promise<void> {
    const account = newAccount();
    const lease = (await store.leases.acquire("relayer", "before", 600_000))!;
    for (let i = 0; i < count; i += 1) {
      const id = await enqueueDeposit(store, await authorizedDeposit(chain, account, [1_000_000n]));
      const sent = { id, kind: "deposit" as const, sender: account.address, nonce: i, to: "0x02", data: "0x" };
      const attempt = { hash: `0x${i.toString(16).padStart(64, "0")}`, raw: "0x", maxFee: 1n, maxPriority: 1n };
      await store.asRelayer(lease, async ({ outbox }) => {
        await outbox.record({ ...sent, gasLimit: 1n, day: "2026-01-01" }, attempt, [id]);
        await outbox.dropped(id);
      });
    }
    await store.leases.release(lease);
    await chain.rpc("hardhat_setNonce", account.address, `0x${count.toString(16)}`);
  }

  it("fails a deposit once its reverted transaction is final, and never sends it again", async () => {
    const service = await services.start({ config: { confirmations: 2 } });
    const { store, relayer, counts } = service;
    const account = newAccount();
    await fund(account, 1_000_000n);
    await chain.automine(false);
    const id = await enqueueDeposit(store, await authorizedDeposit(chain, account, [1_000_000n]));
    await eventually(async () => (await pending()).length === 1);
    await takeTokens(account, 1_000_000n);
    await chain.mine();
    await isMined(service);
    await rounds(service);
    expect(await relayer.waitFor(id, 0)).to.include({ state: "pending" });
    // The relayer does not resend the transaction, even if it would succeed now.
    await chain.token.getFunction("mint")(account.address, 1_000_000n);
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "REVERTED" });
    expect(counts.get("relayer_transactions_total")).to.equal(1);
  });

  it("fails a withdrawal once its reverted transaction is final, and releases its notes", async () => {
    const service = await services.start({ config: { confirmations: 2 } });
    const { store, relayer, counts } = service;
    const withdrawal = await chain.withdrawal({ amount: 1_000n });
    await chain.automine(false);
    const id = await enqueueWithdrawal(store, withdrawal);
    await eventually(async () => (await pending()).length === 1);
    const { token } = chain.deployment;
    const code = await chain.rpc("eth_getCode", token, "latest");
    await chain.rpc("hardhat_setCode", token, "0xfe");
    await chain.mine();
    await chain.rpc("hardhat_setCode", token, code);
    await isMined(service);
    await rounds(service);
    expect(await relayer.waitFor(id, 0)).to.include({ state: "pending" });
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "REVERTED" });
    expect(counts.get("relayer_transactions_total")).to.equal(1);
    await chain.automine(true);
    const again = await enqueue(store, await chain.payment(180, withdrawal.signals[WITHDRAWAL_SIGNAL.nullifiers]!));
    await eventually(async () => (await store.operations.get(again))?.state === "broadcast");
    await isMined(service);
    await chain.mine(2);
    expect((await relayer.waitFor(again, WAIT)).state).to.equal("settled");
  });

  it("reports a deposit that someone else submitted first as settled by that transaction", async () => {
    const service = await services.start();
    const { store, relayer } = service;
    const account = newAccount();
    await fund(account, 1_000_000n);
    await chain.automine(false);
    const deposit = await authorizedDeposit(chain, account, [1_000_000n]);
    const id = await enqueueDeposit(store, deposit);
    await eventually(async () => (await pending()).length === 1);
    const rival = await chain.submitDeposit(deposit.call, { ...DEARER, gasLimit: 2_000_000n });
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "settled", txHash: rival.hash });
  });

  it("sends a deposit again after it lost its nonce, but not beyond the quota of its account", async () => {
    await clearOfMidnight();
    const { store } = await services.start({ config: { rebroadcastAfter: 100 } });
    const account = newAccount();
    await fund(account, 1_000_000n);
    await chain.automine(false);
    const quota = { key: `depositor:${account.address}`, limit: 2, window: DAY_MS };
    const id = await enqueueDeposit(store, await authorizedDeposit(chain, account, [1_000_000n]), [quota]);
    const signer = new Wallet(RELAYER_KEY, chain.provider);
    const loseNonce = async () => {
      const [ours] = await eventually(async () => {
        const all = await pending();
        return all.length > 0 && all;
      });
      await signer.sendTransaction({ to: signer.address, nonce: Number(ours!.nonce), ...DEARER });
      await chain.mine();
    };
    await loseNonce();
    await loseNonce();
    await eventually(async () => (await store.operations.get(id))?.reason === "QUOTA_EXCEEDED");
    expect(await pending()).to.deep.equal([]);
    expect(await store.operations.get(id)).to.include({ state: "queued" });
    expect(await store.quotas.take(quota)).to.include({ allowed: false });
  });

  it("alternates between accounts, even if one queued all its deposits first", async () => {
    const { store, relayer } = await services.open({ config: { maxInFlight: 2 } });
    const [many, one] = [newAccount(), newAccount()];
    await fund(many, 6_000_000n);
    await fund(one, 1_000_000n);
    const first: string[] = [];
    for (let i = 0; i < 6; i += 1)
      first.push(await enqueueDeposit(store, await authorizedDeposit(chain, many, [1_000_000n])));
    const last = await enqueueDeposit(store, await authorizedDeposit(chain, one, [1_000_000n]));
    relayer.start();
    const blockOf = async (id: string) => {
      const { state, blockNumber } = await relayer.waitFor(id, WAIT);
      expect(state).to.equal("settled");
      return blockNumber;
    };
    expect(await blockOf(last)).to.be.below(await blockOf(first[1]!));
    for (const id of first) await blockOf(id);
  });

  it("keeps half of its transactions for payments", async () => {
    const { store, relayer } = await services.open({ config: { maxInFlight: 4 } });
    await chain.automine(false);
    for (let i = 0; i < 6; i += 1) {
      const account = newAccount();
      await chain.token.getFunction("mint")(account.address, 1_000_000n);
      await chain.mine();
      await enqueueDeposit(store, await authorizedDeposit(chain, account, [1_000_000n]));
    }
    relayer.start();
    await eventually(async () => (await pending()).length === 2);
    const id = await enqueue(store, await chain.payment());
    relayer.wake();
    await eventually(async () => (await pending()).length === 3);
    expect(await store.operations.get(id)).to.include({ state: "broadcast" });
    await chain.mine();
    await chain.automine(true);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });

  it("sends a bounded number of requests per round, however many deposits wait", async () => {
    const service = await services.open({ urls: [node.url] });
    const { store, relayer } = service;
    await deadDeposits(service, 30);
    relayer.start();
    const most = 12;
    let left = 30;
    for (let measured = 0; left > 0; measured += 1) {
      const [requests, begun] = [node.requests, service.rounds()];
      await rounds(service);
      expect(node.requests - requests).to.be.at.most(most * (service.rounds() - begun + 1), `measured ${measured}`);
      left = (await store.operations.counts()).queued;
      // A deposit fails only after it reverted on several blocks.
      await chain.mine();
    }
  });

  it("sends a payment before it reads anything about deposits and withdrawals", async () => {
    const service = await services.open({ urls: [node.url], config: { batchDelay: 0 } });
    const { store, relayer } = service;
    await deadDeposits(service, 200);
    const id = await enqueue(store, await chain.payment());
    node.questions.splice(0);
    relayer.start();
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    const sending = node.questions.findIndex(({ method }) => method === "eth_sendRawTransaction");
    const before = node.questions.slice(0, sending).map(({ method }) => method);
    // The relayer reads no receipts of the dead deposits; it calls only the pool's queue and simulates the payment.
    expect(before.filter((method) => method === "eth_getTransactionReceipt")).to.deep.equal([]);
    expect(before.filter((method) => method === "eth_call")).to.have.lengthOf.at.most(2);
  });

  it("fails a deposit whose authorization was used before the blocks that are searched", async () => {
    const { store, relayer } = await services.start({ config: { maxAuthorizationAge: 60, rangeSize: 1 } });
    const account = newAccount();
    await fund(account, 1_000_000n);
    const deposit = await authorizedDeposit(chain, account, [1_000_000n]);
    await (await chain.submitDeposit(deposit.call)).wait();
    await chain.mine();
    await chain.provider.send("evm_increaseTime", [120]);
    await chain.mine();
    const id = await enqueueDeposit(store, deposit);
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "AUTHORIZATION_SPENT" });
  });
});
