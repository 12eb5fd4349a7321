// Payments, withdrawals and deposits through the relayer on a real node.

import { paymentSignals, WITHDRAWAL_SIGNAL } from "@sotto/protocol";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { OTHER_KEY, RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import {
  authorizedDeposit,
  enqueue,
  enqueueDeposit,
  enqueueWithdrawal,
  rounds,
  Services,
} from "@sotto/test-world/relayer/service";
import type { Relayer } from "@sotto/verifier-service";
import { expect } from "chai";
import { hexlify, randomBytes, Wallet } from "ethers";

type Outcome = Awaited<ReturnType<Relayer["waitFor"]>>;

const relayerAddress = new Wallet(RELAYER_KEY).address.toLowerCase();

/** The contract of OP-stack chains that returns the L1 fee of a transaction's data. */
const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000F";
/** Code of a contract that answers every call with this number. */
const constantly = (wei: bigint) => `0x7f${wei.toString(16).padStart(64, "0")}60005260206000f3`;

describe("relayer", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  before(async () => {
    chain = await TestChain.open();
  });
  beforeEach(() => {
    services = new Services(chain);
  });
  afterEach(async () => {
    await services.stopAll();
    await chain.automine(true);
  });

  /** The outcome of an operation, with a new block before each look: a simulation counts once for each block. */
  const outcomeWhileMining = (relayer: Relayer, id: string): Promise<Outcome> =>
    eventually(async () => {
      const found = await relayer.waitFor(id, 100);
      if (found.state !== "pending") return found;
      await chain.mine();
      return false;
    });

  it("settles a payment, and repeats the same response", async () => {
    await clearOfMidnight();
    const { store, relayer } = await services.start();
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    relayer.wake();
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome.state).to.equal("settled");
    const receipt = (await chain.provider.getTransactionReceipt(outcome.txHash))!;
    expect(receipt).to.include({ status: 1, blockNumber: outcome.blockNumber });
    expect(receipt.from.toLowerCase()).to.equal(relayerAddress);
    expect(await enqueue(store, payment)).to.equal(id);
    expect(await relayer.waitFor(id, 0)).to.deep.equal(outcome);
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
    // The relayer books the gas after the outcome.
    await eventually(async () => (await store.gasToday()) === receipt.gasUsed * receipt.gasPrice);
  });

  it("sends enough gas although someone else has sent the same payment, in a transaction that is never mined", async () => {
    const payment = await chain.payment();
    await chain.automine(false);
    const { data } = await chain.pool.getFunction("settle").populateTransaction([payment]);
    const other = new Wallet(OTHER_KEY, chain.provider);
    const copy = await other.sendTransaction({ to: chain.deployment.pool, data, gasLimit: 1_000_000n });
    const { store, relayer } = await services.start();
    const id = await enqueue(store, payment);
    const [sent] = await eventually(async () => {
      const open = await store.outbox.open();
      // The relayer stores a transaction before it sends it to the node.
      return open.some(({ attempts }) => attempts.at(-1)?.sentAt !== undefined) && open;
    });
    await chain.rpc("hardhat_dropTransaction", copy.hash);
    await chain.mine();
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome).to.include({ state: "settled", txHash: sent!.attempts[0]!.hash });
  });

  it("settles waiting payments in one transaction, up to the maximum", async () => {
    const { store, relayer } = await services.open({ config: { maxBatch: 8 } });
    const payments = await Promise.all(Array.from({ length: 12 }, () => chain.payment()));
    const ids: string[] = [];
    for (const payment of payments) ids.push(await enqueue(store, payment));
    relayer.start();
    const outcomes = await Promise.all(ids.map((id) => relayer.waitFor(id, WAIT)));
    expect(outcomes.map(({ state }) => state)).to.deep.equal(ids.map(() => "settled"));
    expect(new Set(outcomes.map(({ txHash }) => txHash)).size).to.equal(2);
  });

  it("puts 64 waiting payments into one transaction, within its gas limit", async () => {
    const { store, relayer } = await services.open();
    const payments = await Promise.all(Array.from({ length: 65 }, () => chain.payment()));
    const ids: string[] = [];
    for (const payment of payments) ids.push(await enqueue(store, payment));
    relayer.start();
    const outcomes = await Promise.all(ids.map((id) => relayer.waitFor(id, WAIT)));
    expect(outcomes.map(({ state }) => state)).to.deep.equal(ids.map(() => "settled"));
    const sizes = new Map<string, number>();
    for (const { txHash } of outcomes) sizes.set(txHash, (sizes.get(txHash) ?? 0) + 1);
    expect([...sizes.values()].sort((a, b) => a - b)).to.deep.equal([1, 64]);
  });

  it("excludes a payment that would revert the batch, and fails only that one", async () => {
    const { store, relayer } = await services.open();
    const payments = await Promise.all(Array.from({ length: 7 }, () => chain.payment()));
    const wrong = [1, 4];
    for (const i of wrong) payments[i]!.proof = payments[0]!.proof;
    const ids: string[] = [];
    for (const payment of payments) ids.push(await enqueue(store, payment));
    const garbled = await chain.payment();
    garbled.proof = ["no number"];
    const hopeless = await enqueue(store, garbled);
    relayer.start();
    const outcomes: Outcome[] = [];
    for (const id of ids) outcomes.push(await outcomeWhileMining(relayer, id));
    expect(await outcomeWhileMining(relayer, hopeless)).to.include({ state: "failed", reason: "REVERTED" });
    for (const [i, { state, reason }] of outcomes.entries())
      if (wrong.includes(i)) expect([state, reason]).to.deep.equal(["failed", "REVERTED_INVALID_PROOF"]);
      else expect(state).to.equal("settled");
    const settled = outcomes.filter(({ state }) => state === "settled");
    expect(new Set(settled.map(({ txHash }) => txHash)).size).to.equal(1);
  });

  it("waits for its confirmations, and answers pending with the transaction until then", async () => {
    const service = await services.start({ config: { confirmations: 3 } });
    const { store, relayer } = service;
    const id = await enqueue(store, await chain.payment());
    const mined = await eventually(async () => (await store.outbox.open()).find(({ state }) => state === "mined"));
    await rounds(service);
    const pending = await relayer.waitFor(id, 0);
    expect(pending).to.deep.equal({ state: "pending", txHash: mined.attempts[0]!.hash, blockNumber: 0 });
    await chain.mine(2);
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome).to.deep.equal({ state: "settled", txHash: pending.txHash, blockNumber: mined.blockNumber });
  });

  it("reports a payment that someone else settled first, with that transaction", async () => {
    const { store, relayer, counts } = await services.open();
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    const { hash, blockNumber } = await chain.settle(payment);
    relayer.start();
    expect(await relayer.waitFor(id, WAIT)).to.deep.equal({ state: "settled", txHash: hash, blockNumber });
    expect(counts.get("relayer_front_run_total")).to.equal(1);
    expect(counts.get("relayer_transactions_total")).to.equal(undefined);
  });

  it("finds the front-runner even if its own transaction is already sent", async () => {
    const { store, relayer } = await services.start();
    await chain.automine(false);
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    await eventually(async () => ((await chain.rpc("eth_pendingTransactions")) as unknown[]).length > 0);
    // Another account's transaction has higher fees and comes first in the block.
    const rival = await chain.pool.getFunction("settle")([payment], {
      maxPriorityFeePerGas: 10n ** 10n,
      maxFeePerGas: 10n ** 11n,
      gasLimit: 2_000_000n,
    });
    await chain.mine();
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome).to.include({ state: "settled", txHash: rival.hash });
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([rival.hash]);
  });

  it("fails a payment whose note was spent by another payment", async () => {
    const { store, relayer } = await services.open();
    const nullifier = chain.random.field();
    const id = await enqueue(store, await chain.payment(180, nullifier));
    await chain.settle(await chain.payment(180, nullifier));
    relayer.start();
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome).to.deep.equal({ state: "failed", txHash: "0x", blockNumber: 0, reason: "NULLIFIER_SPENT" });
  });

  it("sends no payment that could miss its deadline, and marks it expired only once it cannot settle", async () => {
    const service = await services.start();
    const { store, relayer, counts } = service;
    const payment = await chain.payment(25);
    const id = await enqueue(store, payment);
    await rounds(service);
    expect((await relayer.waitFor(id, 0)).state).to.equal("pending");
    expect(counts.get("relayer_transactions_total")).to.equal(undefined);
    await chain.rpc("evm_setNextBlockTimestamp", Number(payment.validUntil) + 1);
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "EXPIRED", txHash: "0x" });
    const again = await enqueue(store, await chain.payment(180, paymentSignals(payment.signals).nullifier));
    expect((await relayer.waitFor(again, WAIT)).state).to.equal("settled");
  });

  it("relays withdrawals, and reserves all their notes against payments", async () => {
    const { store, relayer } = await services.start();
    const withdrawal = await chain.withdrawal();
    const id = await enqueueWithdrawal(store, withdrawal);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    const nullifier = withdrawal.signals[WITHDRAWAL_SIGNAL.nullifiers + 1]!;
    const refused = await enqueue(store, await chain.payment(180, nullifier)).catch((error: Error) => error.message);
    expect(refused).to.equal("NULLIFIER_SPENT");
  });

  it("relays deposits of accounts without ETH once, and finds one that someone else submitted", async () => {
    const { store, relayer, counts } = await services.start();
    const depositor = Wallet.createRandom();
    const account = new Wallet(depositor.privateKey);
    await (await chain.token.getFunction("mint")(account.address, 5_000_000n)).wait();
    const deposit = await authorizedDeposit(chain, account, [1_000_000n, 2_000_000n]);
    const id = await enqueueDeposit(store, deposit);
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome.state).to.equal("settled");
    expect(await enqueueDeposit(store, deposit)).to.equal(id);
    expect(await chain.token.getFunction("balanceOf")(account.address)).to.equal(2_000_000n);

    const other = await authorizedDeposit(chain, account, [1_500_000n]);
    const rival = await chain.submitDeposit(other.call);
    await rival.wait();
    const second = await enqueueDeposit(store, other);
    expect(await relayer.waitFor(second, WAIT)).to.include({ state: "settled", txHash: rival.hash });
    expect(counts.get("relayer_front_run_total")).to.equal(1);

    const poor = await enqueueDeposit(store, await authorizedDeposit(chain, account, [9_000_000n]));
    expect(await outcomeWhileMining(relayer, poor)).to.include({ state: "failed", reason: "REVERTED" });
  });

  it("fails a deposit only after its simulation reverted on three different blocks", async () => {
    let time = Date.now();
    const service = await services.start({ clock: () => time });
    const { store, relayer } = service;
    const poor = await enqueueDeposit(
      store,
      await authorizedDeposit(chain, new Wallet(hexlify(randomBytes(32))), [20_000n]),
    );
    const simulated = async () => (await store.operations.get(poor))!;
    for (const count of [1, 2]) {
      await eventually(async () => {
        time += 1_000;
        return (await simulated()).reverts === count;
      });
      // More simulations on the same block change nothing.
      for (let again = 0; again < 4; again += 1) {
        time += 5_000;
        const { retryAt } = await simulated();
        await eventually(async () => (await simulated()).retryAt > retryAt);
      }
      expect(await simulated()).to.include({ reverts: count, state: "queued" });
      expect((await relayer.waitFor(poor, 0)).state).to.equal("pending");
      await chain.mine();
    }
    const outcome = await eventually(async () => {
      time += 1_000;
      const found = await relayer.waitFor(poor, 0);
      return found.state !== "pending" && found;
    });
    expect(outcome).to.include({ state: "failed", reason: "REVERTED" });
  });

  it("settles a deposit again whose tokens a reorganization took back for a while", async () => {
    let time = Date.now();
    const { store, relayer } = await services.start({ clock: () => time });
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const account = new Wallet(hexlify(randomBytes(32)));
    const mint = async () => (await chain.token.getFunction("mint")(account.address, 1_000_000n)).wait();
    await mint();
    // Another sender submits it, so the relayer has no transaction of its own.
    const deposit = await authorizedDeposit(chain, account, [1_000_000n]);
    await (await chain.submitDeposit(deposit.call)).wait();
    const id = await enqueueDeposit(store, deposit);
    const first = await relayer.waitFor(id, WAIT);
    expect(first.state).to.equal("settled");
    await chain.rpc("evm_revert", snapshot);
    await chain.rpc("evm_increaseTime", 5);
    await chain.mine();
    // The simulation reverts again and again on the one block without the tokens.
    for (let again = 0; again < 5; again += 1) {
      const before = (await store.operations.get(id))!.retryAt;
      await eventually(async () => {
        time += 1_000;
        return (await store.operations.get(id))!.retryAt > before;
      });
      time = Date.now() + 1_000 * again;
    }
    expect((await relayer.waitFor(id, 0)).state).to.equal("pending");
    await mint();
    const second = await eventually(async () => {
      time += 1_000;
      const found = await relayer.waitFor(id, 0);
      return found.state !== "pending" && found;
    });
    expect(second.state).to.equal("settled");
  });

  it("respects its daily gas budget", async () => {
    const { store, relayer, counts } = await services.start({ config: { gasBudgetPerDay: 1_000n } });
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    await eventually(async () => (await store.operations.get(id))?.reason === "GAS_BUDGET_EXHAUSTED");
    expect(counts.get("relayer_transactions_total")).to.equal(undefined);
    await chain.rpc("evm_setNextBlockTimestamp", Number(payment.validUntil) + 1);
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "GAS_BUDGET_EXHAUSTED" });
  });

  it("counts the L1 data fee on OP-stack chains", async () => {
    await clearOfMidnight();
    await chain.rpc("hardhat_setCode", GAS_PRICE_ORACLE, constantly(10n ** 15n));
    try {
      const { store, relayer } = await services.start({ config: { gasBudgetPerDay: 10n ** 18n } });
      const { txHash } = await relayer.waitFor(await enqueue(store, await chain.payment()), WAIT);
      const receipt = await chain.provider.getTransactionReceipt(txHash);
      // A quarter more than the current L1 fee, because the fee may rise before the transaction is mined.
      const cost = receipt!.gasUsed * receipt!.gasPrice + (10n ** 15n * 5n) / 4n;
      await eventually(async () => (await store.gasToday()) === cost);
      // Without the L1 fee, the gas would be within the budget.
      await chain.rpc("hardhat_setCode", GAS_PRICE_ORACLE, constantly(10n ** 18n));
      const id = await enqueue(store, await chain.payment());
      await eventually(async () => (await store.operations.get(id))?.reason === "GAS_BUDGET_EXHAUSTED");
    } finally {
      await chain.rpc("hardhat_setCode", GAS_PRICE_ORACLE, "0x");
    }
  });

  it("queries its store as often for a thousand waiting requests as for one", async () => {
    const { store, relayer } = await services.start();
    await chain.automine(false);
    const id = await enqueue(store, await chain.payment());
    await eventually(async () => (await store.operations.get(id))?.txHash);
    const { get } = store.operations;
    let looks = 0;
    store.operations.get = (asked) => {
      looks += 1;
      return get(asked);
    };
    const outcomes = await Promise.all(Array.from({ length: 1_000 }, () => relayer.waitFor(id, 1_000)));
    expect(new Set(outcomes.map(({ state }) => state))).to.deep.equal(new Set(["pending"]));
    expect(looks).to.be.below(100);
    await chain.mine();
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });

  it("reports a payment that was never queued as unknown", async () => {
    const { relayer } = await services.start();
    const error = await relayer.waitFor("nothing", 10).catch((failure: { code?: string }) => failure.code);
    expect(error).to.equal("UNKNOWN_OPERATION");
  });

  it("finds a deposit that someone else submitted thousands of blocks ago", async () => {
    const account = new Wallet(Wallet.createRandom().privateKey);
    await (await chain.token.getFunction("mint")(account.address, 1_000_000n)).wait();
    const deposit = await authorizedDeposit(chain, account, [1_000_000n]);
    const rival = await chain.submitDeposit(deposit.call);
    await rival.wait();
    await chain.mine(9_000);
    const { store, relayer } = await services.start();
    const id = await enqueueDeposit(store, deposit);
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "settled", txHash: rival.hash });
  });
});
