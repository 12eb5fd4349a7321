// Nodes that fail or lie, stuck transactions, nonces that other transactions use, and reorganized blocks.

import { paymentSignals } from "@sotto/protocol";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { FaultyNode, MODES } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { OTHER_KEY, RELAYER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import { authorizedDeposit, enqueue, enqueueDeposit, rounds, Services } from "@sotto/test-world/relayer/service";
import { expect } from "chai";
import { Wallet } from "ethers";

const relayerAddress = new Wallet(RELAYER_KEY).address;

interface Pending {
  hash: string;
  nonce: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
}

describe("a relayer in trouble", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  const proxies: FaultyNode[] = [];
  before(async () => {
    chain = await TestChain.open();
  });
  beforeEach(() => {
    services = new Services(chain);
  });
  afterEach(async () => {
    await services.stopAll();
    for (const proxy of proxies.splice(0)) await proxy.stop();
    await chain.automine(true);
  });

  async function proxy(): Promise<FaultyNode> {
    const started = await FaultyNode.start(chain.node.url);
    proxies.push(started);
    return started;
  }

  const pending = async () => (await chain.rpc("eth_pendingTransactions")) as Pending[];

  for (const mode of [...(Object.keys(MODES) as (keyof typeof MODES)[]), "isBehind" as const])
    it(`settles through the second node while the first one ${mode}`, async () => {
      const first = await proxy();
      // The relayer asks a node for its chain only when it first uses the node.
      if (mode === "isOnAnotherChain") first.mode = mode;
      const { store, relayer } = await services.start({ urls: [first.url, chain.node.url], timeout: 400 });
      await eventually(async () => (await relayer.status()).lastRound !== undefined);
      first.mode = mode;
      const payment = await chain.payment();
      const id = await enqueue(store, payment);
      const outcome = await relayer.waitFor(id, WAIT);
      expect(outcome.state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
      if (mode === "isOnAnotherChain") expect([...first.asked.keys()]).to.deep.equal(["eth_chainId"]);
    });

  for (const mode of ["hangs", "breaksOff", "hidesEvents", "swallowsTransactions"] as const)
    it(`settles once after its only node, which ${mode}, recovers`, async () => {
      const only = await proxy();
      const { store, relayer } = await services.start({
        urls: [only.url],
        timeout: 300,
        config: { rebroadcastAfter: 200 },
      });
      await eventually(async () => (await relayer.status()).lastRound !== undefined);
      const payment = await chain.payment();
      only.mode = mode;
      const id = await enqueue(store, payment);
      // By now the relayer has encountered the failure.
      await eventually(async () =>
        mode === "hangs" || mode === "breaksOff"
          ? (await relayer.status()).error !== undefined
          : only.asked.has("eth_sendRawTransaction"),
      );
      expect((await relayer.waitFor(id, 0)).state).to.equal("pending");
      only.mode = "honest";
      const outcome = await relayer.waitFor(id, WAIT);
      expect(outcome.state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
    });

  it("settles through a node that times out for the logs of many blocks", async () => {
    const only = await proxy();
    only.widestLogs = 3;
    await chain.mine(40);
    const { store, relayer } = await services.start({ urls: [only.url], timeout: 300 });
    const outcome = await relayer.waitFor(await enqueue(store, await chain.payment()), WAIT);
    expect(outcome.state).to.equal("settled");
  });

  it("backs off while no node estimates gas, and sends when one does", async () => {
    const only = await proxy();
    let now = Date.now();
    const service = await services.start({ urls: [only.url], clock: () => now });
    const { store, relayer } = service;
    await rounds(service);
    only.mode = "estimatesNoGas";
    const estimates = () => only.asked.get("eth_estimateGas") ?? 0;
    const id = await enqueue(store, await chain.payment());
    now += 1_000;
    relayer.wake();
    for (const pause of [1_000, 2_000, 4_000]) {
      const before = await eventually(async () => estimates() > 0 && estimates());
      await rounds(service);
      now += pause - 1;
      await rounds(service);
      expect(estimates(), `before ${pause} ms`).to.equal(before);
      now += 1;
      await eventually(async () => estimates() > before);
    }
    // The relayer computes the pause from the time at which it reads the error.
    await rounds(service);
    only.mode = "honest";
    now += 8_000;
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
  });

  it("reports that no node answers", async () => {
    const only = await proxy();
    const { relayer, log } = await services.start({ urls: [only.url], timeout: 200 });
    only.mode = "breaksOff";
    await eventually(async () => (await relayer.status()).error === "NODE_UNREACHABLE");
    expect(JSON.stringify(log)).not.to.contain("http://");
  });

  it("settles a payment among hundreds of deposits that their depositors cannot pay", async () => {
    const node = await proxy();
    const { store, relayer } = await services.start({ urls: [node.url] });
    await eventually(async () => (await relayer.status()).lastRound !== undefined);
    const poor = new Wallet(Wallet.createRandom().privateKey);
    for (let i = 0; i < 200; i += 1) await enqueueDeposit(store, await authorizedDeposit(chain, poor, [1_000_000n]));
    node.asked.clear();
    const id = await enqueue(store, await chain.payment());
    relayer.wake();
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    expect(node.asked.get("eth_call")).to.be.below(100);
  });

  it("replaces an unmined transaction by one with the same nonce that pays at least 12.5% more", async () => {
    await clearOfMidnight();
    const { store, relayer } = await services.start({ config: { stuckAfter: 400 } });
    await chain.automine(false);
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    const [first] = await eventually(async () => {
      const all = await pending();
      return all.length > 0 && all;
    });
    const [second] = await eventually(async () => {
      const all = await pending();
      return all[0]?.hash !== first!.hash && all.length > 0 && all;
    });
    expect(second!.nonce).to.equal(first!.nonce);
    for (const field of ["maxFeePerGas", "maxPriorityFeePerGas"] as const)
      expect(BigInt(second![field]) * 1000n >= BigInt(first![field]) * 1125n).to.equal(true);
    await chain.mine();
    await chain.automine(true);
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome.state).to.equal("settled");
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
    const receipt = (await chain.provider.getTransactionReceipt(outcome.txHash))!;
    await eventually(async () => (await store.gasToday()) === receipt.gasUsed * receipt.gasPrice);
  });

  it("pays the priority fee that its only node requires, without waiting until the transaction is stuck", async () => {
    const only = await proxy();
    only.lowestTip = 25_000_000_000n;
    const never = { stuckAfter: 3_600_000, rebroadcastAfter: 3_600_000 };
    const { store, relayer, counts } = await services.start({ urls: [only.url], config: never });
    const { txHash, state } = await relayer.waitFor(await enqueue(store, await chain.payment()), WAIT);
    expect(state).to.equal("settled");
    const transaction = (await chain.provider.getTransaction(txHash))!;
    expect(transaction.maxPriorityFeePerGas).to.equal(only.lowestTip);
    // The next one offers it at once.
    await relayer.waitFor(await enqueue(store, await chain.payment()), WAIT);
    expect(counts.get("relayer_replacements_total")).to.equal(1);
  });

  it("never exceeds its fee cap", async () => {
    const cap = 10n ** 10n;
    const config = { stuckAfter: 1_000, maxFeePerGas: cap, maxPriorityFeePerGas: cap };
    let now = Date.now();
    const service = await services.start({ config, clock: () => now });
    const { store, counts, log } = service;
    await chain.automine(false);
    await enqueue(store, await chain.payment());
    // Enough rounds for fees that rise by an eighth each time to exceed the cap.
    for (let looks = 0; looks < 14; looks += 1) {
      now += 2_000;
      await rounds(service);
      for (const { maxFeePerGas } of await pending()) expect(BigInt(maxFeePerGas) <= cap).to.equal(true);
    }
    expect(counts.get("relayer_replacements_total")).to.be.within(2, 13);
    expect(log.filter(({ level }) => level === "error")).to.deep.equal([]);
    await chain.mine();
  });

  it("cancels a transaction whose payments can no longer settle, and frees its nonce", async () => {
    const { store, relayer } = await services.start({ config: { stuckAfter: 1_000 } });
    await chain.automine(false);
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    await eventually(async () => (await pending()).length === 1);
    // The block's base fee is too high for the transaction, and its timestamp is past the payment's validUntil.
    await chain.rpc("hardhat_setNextBlockBaseFeePerGas", "0x2540be40000");
    await chain.rpc("evm_setNextBlockTimestamp", Number(payment.validUntil) + 1);
    await chain.mine();
    expect(await relayer.waitFor(id, WAIT)).to.include({ state: "failed", reason: "EXPIRED" });
    const cancelled = await eventually(async () => {
      const [transaction] = await store.outbox.open();
      return transaction?.kind === "cancel" && transaction;
    });
    await chain.rpc("hardhat_setNextBlockBaseFeePerGas", "0x3b9aca00");
    await chain.mine();
    await chain.automine(true);
    await eventually(async () => (await store.outbox.open()).length === 0);
    expect(await chain.provider.getTransactionCount(relayerAddress)).to.equal(cancelled.nonce + 1);
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([]);
  });

  it("settles a reverted payment again, once", async () => {
    const { store, relayer, counts } = await services.start({ config: { rebroadcastAfter: 100 } });
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    const first = await relayer.waitFor(id, WAIT);
    expect(first.state).to.equal("settled");
    // A block with the payment and the same time would have the same hash, so no block may be mined before the time differs.
    await chain.automine(false);
    await chain.rpc("evm_revert", snapshot);
    await chain.rpc("evm_increaseTime", 5);
    await chain.mine(3);
    await chain.automine(true);
    // It may have settled again in one of the three.
    const { nullifier } = paymentSignals(payment.signals);
    const second = await eventually(async () => {
      const outcome = await relayer.waitFor(id, 0);
      const isSettled = outcome.state === "settled" && (await chain.settlements(nullifier)).length > 0;
      return isSettled && counts.has("relayer_reorganisations_total") && outcome;
    });
    expect(await chain.settlements(nullifier)).to.deep.equal([second.txHash]);
  });

  it("rolls back exactly the reorganized blocks", async () => {
    await chain.mine(40);
    const early = await services.start();
    const old = await enqueue(early.store, await chain.payment());
    const settled = await early.relayer.waitFor(old, WAIT);
    await chain.mine(40);
    const snapshot = await chain.rpc("evm_snapshot");
    await chain.mine(3);
    const { relayer, store, counts } = await services.start({ key: OTHER_KEY });
    await eventually(async () => (await relayer.status()).lastRound !== undefined);
    const before = await store.ledger.blocks();
    await chain.rpc("evm_revert", snapshot);
    // Empty blocks of the same second would have the same hashes.
    await chain.rpc("evm_increaseTime", 5);
    await chain.mine(5);
    await eventually(async () => (counts.get("relayer_reorganisations_total") ?? 0) > 0);
    await eventually(async () => (await relayer.status()).head?.number === (await chain.provider.getBlockNumber()));
    const after = await store.ledger.blocks();
    const kept = before.filter(({ hash }) => after.some((block) => block.hash === hash));
    expect(kept.length).to.be.greaterThan(5);
    expect(before.length - kept.length).to.be.within(1, 3);
    expect(await early.relayer.waitFor(old, 0)).to.deep.equal(settled);
  });

  it("fails a reverted payment after its deadline", async () => {
    const { store, relayer } = await services.start();
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    await chain.rpc("evm_revert", snapshot);
    await chain.rpc("evm_setNextBlockTimestamp", Number(payment.validUntil) + 1);
    await chain.mine(3);
    const outcome = await eventually(async () => {
      const now = await relayer.waitFor(id, 0);
      return now.state === "failed" && now;
    });
    expect(outcome.reason).to.equal("REORGANISED");
    await eventually(async () => (await store.outbox.open()).length === 0);
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([]);
  });

  it("fills a gap in its nonces", async () => {
    const { store, relayer } = await services.start({ config: { rebroadcastAfter: 100 } });
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    // Another program used the same key; a reorganization then removes its transaction.
    const signer = new Wallet(RELAYER_KEY, chain.provider);
    await (await signer.sendTransaction({ to: relayerAddress })).wait();
    const nonce = await chain.provider.getTransactionCount(relayerAddress);
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    await chain.rpc("evm_revert", snapshot);
    await chain.mine(3);
    await eventually(async () => (await chain.provider.getTransactionCount(relayerAddress)) === nonce + 1);
    expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.have.length(1);
  });

  it("resends under the next nonce after another transaction took its nonce", async () => {
    const { store, relayer } = await services.start({ config: { rebroadcastAfter: 100 } });
    await chain.automine(false);
    const payment = await chain.payment();
    const id = await enqueue(store, payment);
    const [ours] = await eventually(async () => {
      const all = await pending();
      return all.length > 0 && all;
    });
    const signer = new Wallet(RELAYER_KEY, chain.provider);
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    await signer.sendTransaction({ to: relayerAddress, nonce: Number(ours!.nonce), ...fees });
    await chain.mine();
    await chain.automine(true);
    const outcome = await relayer.waitFor(id, WAIT);
    expect(outcome.state).to.equal("settled");
    expect(outcome.txHash).not.to.equal(ours!.hash);
    expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.deep.equal([outcome.txHash]);
  });

  it("resets on a restarted chain with the same store", async () => {
    const other = await TestChain.start();
    const elsewhere = new Services(other);
    const storeUrl = services.newStoreUrl();
    try {
      const first = await elsewhere.start({ storeUrl });
      const lost = await enqueue(first.store, await other.payment());
      expect((await first.relayer.waitFor(lost, WAIT)).state).to.equal("settled");
      await elsewhere.stop(first);
      const { store, relayer } = await services.start({ storeUrl });
      const payment = await chain.payment();
      const id = await enqueue(store, payment);
      expect((await relayer.waitFor(id, WAIT)).state).to.equal("settled");
      expect(await chain.settlements(paymentSignals(payment.signals).nullifier)).to.have.length(1);
      expect((await relayer.waitFor(lost, 0)).state).not.to.equal("settled");
    } finally {
      await elsewhere.stopAll();
      await other.stop();
    }
  });
});
