// The relayer appends queued notes to the tree: immediately, when the oldest note is old enough, or when an append is full.

import { connectChain, NewestCheckpoint, poolViews, proveAppend } from "@sotto/chain";
import { appendCall } from "@sotto/chain/ethers";
import { NoteTree, parseAddress } from "@sotto/protocol";
import { eventually, WAIT } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { slow } from "@sotto/test-kit/slow";
import { forgingProver } from "@sotto/test-pool/append";
import { OTHER_KEY, TestChain } from "@sotto/test-world/relayer/chain";
import { enqueue, rounds, type Service, Services } from "@sotto/test-world/relayer/service";
import type { Store } from "@sotto/verifier-service";
import { expect } from "chai";
import { Wallet } from "ethers";

type Transaction = Awaited<ReturnType<Store["outbox"]["open"]>>[number];

/** A prover that counts its proofs. */
function countingProver(): { readonly counted: { proofs: number }; readonly prover: typeof forgingProver } {
  const counted = { proofs: 0 };
  const prover: typeof forgingProver = {
    ...forgingProver,
    prove: (circuit, input) => {
      counted.proofs += 1;
      return forgingProver.prove(circuit, input);
    },
  };
  return { counted, prover };
}

describe("the relayer's appends", function () {
  slow(this, "a chain and a relayer's rounds");
  let chain: TestChain;
  let services: Services;
  // A test that fails must not leave notes or pending transactions to the next one.
  beforeEach(async () => {
    chain = await TestChain.open();
    services = new Services(chain);
  });
  afterEach(() => services.stopAll());

  const queue = async () => {
    const { size, appended } = await chain.pool.getFunction("queue")();
    return { size: Number(size), appended: Number(appended) };
  };
  const appended = async (size: number) => eventually(async () => (await queue()).appended === size);
  const settled = async () => {
    const { store, relayer } = await services.start();
    const id = await enqueue(store, await chain.payment());
    await relayer.waitFor(id, WAIT);
    return (await queue()).size;
  };

  it("run immediately on a development chain, as many as the notes need", async () => {
    await settled();
    for (let i = 0; i < 3; i += 1) await chain.deposit(Array.from({ length: 40 }, () => 20_000n));
    const { size } = await queue();
    const { store } = await services.start({ config: { append: true, appendAfter: 0 } });
    await appended(size);
    const last = await eventually(async () => {
      const append = await store.ledger.lastAppend();
      return append?.size === size && append;
    });
    expect(await chain.pool.getFunction("root")()).to.equal(BigInt(last.root));
    expect(await chain.pool.getFunction("isKnownRoot")(last.root)).to.equal(true);
  });

  it("wait for the oldest note to be old enough", async () => {
    // The relayer's clock is stopped and only the chain's advances; a slow machine may need 20 s for any step.
    const now = Date.now();
    const service = await services.start({ config: { append: true, appendAfter: 20_000 }, clock: () => now });
    await chain.deposit();
    const { size } = await queue();
    await rounds(service);
    expect((await queue()).appended).to.equal(size - 1);
    await chain.rpc("evm_increaseTime", 21);
    await chain.mine();
    await appended(size);
  });

  it("do not wait once 64 notes are queued", async () => {
    const before = await queue();
    const service = await services.start({ config: { append: true, appendAfter: 3_600_000 } });
    await chain.deposit(Array.from({ length: 63 }, () => 20_000n));
    await rounds(service);
    expect(await queue()).to.deep.equal({ size: before.size + 63, appended: before.size });
    await chain.deposit();
    // If its second has not passed yet, the 64th stays in the queue.
    await eventually(async () => (await queue()).appended >= before.size + 63);
  });

  it("continue after a reorganization changes the queue", async () => {
    await chain.mine(2);
    const snapshot = await chain.rpc("evm_snapshot");
    const { relayer } = await services.start({ config: { append: true, appendAfter: 0, rebroadcastAfter: 100 } });
    await chain.deposit([30_000n, 40_000n]);
    await appended((await queue()).size);
    await chain.rpc("evm_revert", snapshot);
    await chain.mine(2);
    await chain.deposit([50_000n]);
    await appended((await queue()).size);
    await eventually(async () => (await relayer.status()).error === undefined);
  });

  it("survive an append by someone else", async () => {
    const { log } = await services.start({ config: { append: true, appendAfter: 0 } });
    await services.start({ config: { append: true, appendAfter: 0 }, key: OTHER_KEY });
    for (let i = 0; i < 3; i += 1) {
      await chain.deposit();
      await appended((await queue()).size);
    }
    expect(log.filter(({ level }) => level === "error").map(({ fields }) => fields)).to.deep.equal([]);
  });

  it("are proved once and kept while gas is too expensive, and proved again only after a pause", async () => {
    await chain.deposit();
    const { size } = await queue();
    const { counted, prover } = countingProver();
    const poor = { append: true, appendAfter: 0, gasBudgetPerDay: 1n };
    const first = await services.start({ config: poor, prover });
    await eventually(async () => counted.proofs > 0);
    await rounds(first);
    expect(counted.proofs).to.equal(1);
    await services.stop(first);

    const failing: typeof forgingProver = {
      ...forgingProver,
      prove: async () => {
        counted.proofs += 1;
        throw new Error("no proof today");
      },
    };
    let now = Date.now();
    const config = { append: true, appendAfter: 0 };
    const second = await services.start({ config, prover: failing, clock: () => now });
    await eventually(async () => counted.proofs > 1);
    await rounds(second);
    expect(counted.proofs).to.equal(2);
    now += 10_000;
    await eventually(async () => counted.proofs > 2);
    expect((await second.relayer.status()).error).to.equal(undefined);
    expect((await queue()).appended).to.be.lessThan(size);
    await services.stop(second);
    await services.start({ config });
    await appended(size);
  });

  describe("with a node that is behind", () => {
    let node: FaultyNode;
    beforeEach(async () => {
      node = await FaultyNode.start(chain.node.url);
    });
    afterEach(() => node.stop());

    it("are proved once if another node is not", async () => {
      const { counted, prover } = countingProver();
      const config = { append: true, appendAfter: 0 };
      const service = await services.start({ config, prover, urls: [node.url, chain.node.url] });
      await rounds(service);
      [node.lag, node.mode] = [1, "isBehind"];
      await chain.deposit();
      const { size } = await queue();
      await appended(size);
      expect(counted.proofs).to.equal(1);
    });

    it("are proved again only after a pause, longer each time, while the only node refuses them", async () => {
      const { counted, prover } = countingProver();
      let time = Date.now();
      const config = { append: true, appendAfter: 0, blockSeconds: 0.1 };
      // The node that estimates the gas lacks the deposit, but the others behind its URL have it.
      [node.lag, node.mode] = [1, "isPartlyBehind"];
      const service = await services.start({ config, prover, urls: [node.url], clock: () => time });
      await chain.deposit();
      const { size } = await queue();
      for (const [index, pause] of [5_000, 10_000, 20_000].entries()) {
        await eventually(async () => counted.proofs > index);
        await rounds(service);
        time += pause - 1;
        await rounds(service);
        expect(counted.proofs, `before ${pause} ms`).to.equal(index + 1);
        time += 1;
      }
      await eventually(async () => counted.proofs > 3);
      await rounds(service);
      // Control: the node has caught up.
      node.mode = "honest";
      time += 40_000;
      await appended(size);
      expect(counted.proofs).to.equal(5);
    });
  });

  describe("while no block is mined", () => {
    const FULL = Array.from({ length: 64 }, () => 20_000n);
    const now = { append: true, appendAfter: 0 };

    /** Queues the notes of so many full appends and stops mining. */
    const queueWithoutMining = async (appends: number) => {
      for (let i = 0; i < appends; i += 1) await chain.deposit(FULL);
      await chain.automine(false);
    };
    const underWay = async ({ store }: Service) =>
      (await store.outbox.open()).filter(({ kind, state }) => kind === "append" && state === "sent");
    // The relayer stores an append before it sends it to the node.
    const isAtNode = ({ attempts }: Transaction) => attempts.at(-1)?.sentAt !== undefined;
    const sent = async (service: Service, count: number) =>
      eventually(async () => {
        const open = await underWay(service);
        return open.length === count && open.every(isAtNode);
      });
    const appends = async (fromBlock: number) => {
      const found = await chain.pool.queryFilter(chain.pool.getEvent("Appended"), fromBlock);
      return found.map(({ blockNumber }) => blockNumber);
    };
    const cancelled = ({ log }: Service) => log.filter(({ fields }) => fields["cancel"] === true);

    it("are proved for the tree as it will be, sent together and mined in one block", async () => {
      await queueWithoutMining(3);
      const service = await services.start({ config: now });
      await sent(service, 3);
      await chain.mine();
      const block = await chain.provider.getBlockNumber();
      expect(await appends(block)).to.deep.equal([block, block, block]);
      const { size, appended } = await queue();
      expect(appended).to.equal(size);
    });

    it("are at most four", async () => {
      await queueWithoutMining(6);
      const { size } = await queue();
      const service = await services.start({ config: now });
      await sent(service, 4);
      await rounds(service);
      expect(await underWay(service)).to.have.length(4);
      await chain.mine();
      expect((await queue()).appended).to.equal(size - 128);
      await sent(service, 2);
      await chain.mine();
      expect((await queue()).appended).to.equal(size);
    });

    it("are sent ahead with 33 notes, but with 32 only after the one before is mined", async () => {
      await chain.deposit(FULL);
      await chain.deposit(FULL.slice(0, 33));
      await chain.automine(false);
      const first = await services.start({ config: now });
      await sent(first, 2);
      await services.stop(first);
      await chain.mine();
      await chain.automine(true);
      const before = await queue();
      expect(before.appended).to.equal(before.size);
      await chain.deposit(FULL);
      await chain.deposit(FULL.slice(0, 32));
      const { size } = await queue();
      await chain.automine(false);
      const second = await services.start({ config: now });
      await sent(second, 1);
      await rounds(second);
      expect(await underWay(second)).to.have.length(1);
      await chain.mine();
      expect((await queue()).appended).to.equal(size - 32);
      await chain.automine(true);
      await appended(size);
    });

    it("leave room for payments", async () => {
      await queueWithoutMining(2);
      const service = await services.start({ config: { ...now, maxInFlight: 1 } });
      await sent(service, 2);
      const id = await enqueue(service.store, await chain.payment());
      await eventually(async () =>
        (await service.store.outbox.open()).some((next) => next.kind === "settle" && isAtNode(next)),
      );
      await chain.mine();
      expect((await service.relayer.waitFor(id, WAIT)).state).to.equal("settled");
    });

    it("are proved again from the chain's tree if another sender appends fewer notes first", async () => {
      await chain.deposit([20_000n]);
      const { size: first, appended: start } = await queue();
      // The relayer's first append takes this note too.
      await chain.nextSecond();
      await chain.deposit([20_000n]);
      await chain.nextSecond();
      await queueWithoutMining(3);
      const { size } = await queue();
      let time = Date.now();
      const service = await services.start({ config: now, clock: () => time });
      await sent(service, 3);
      const [{ attempts }] = (await underWay(service)) as [Transaction];
      const other = new Wallet(OTHER_KEY, chain.provider);
      // The node forgets the first append. The relayer sends it again once its clock advances.
      await chain.rpc("hardhat_dropTransaction", attempts[0]!.hash);
      await other.sendTransaction({ ...(await appendOf(service, first - start)), gasLimit: 1_000_000n });
      await chain.mine();
      expect((await queue()).appended).to.equal(first);
      // First: what is sent before the node mines by itself again is not mined.
      await chain.automine(true);
      time += 3_000;
      await appended(size);
      expect(cancelled(service)).to.deep.equal([]);
      const reverted = () => service.log.filter(({ fields }) => fields["succeeded"] === false);
      await eventually(async () => reverted().length === 3);
      await eventually(async () => (await service.relayer.status()).error === undefined);
    });

    it("continue after another sender copies the first one: that one reverts, and those after it succeed", async () => {
      await queueWithoutMining(7);
      const { size, appended: start } = await queue();
      let time = Date.now();
      const service = await services.start({ config: now, clock: () => time });
      await sent(service, 4);
      const [{ data, attempts }] = (await underWay(service)) as [Transaction];
      const { hash } = attempts[0]!;
      // The node forgets the relayer's append, so the copy is mined first. The relayer sends it again once its clock advances.
      await chain.rpc("hardhat_dropTransaction", hash);
      const other = new Wallet(OTHER_KEY, chain.provider);
      await other.sendTransaction({ to: chain.deployment.pool, data, gasLimit: 1_000_000n });
      await chain.mine();
      expect((await queue()).appended).to.equal(start + 64);
      // The copied append is in the tree, so a fifth follows the three that are not. The copied one is still under way.
      await sent(service, 5);
      time += 3_000;
      await eventually(async () => (await chain.provider.getTransaction(hash)) !== null);
      await chain.mine();
      expect((await chain.provider.getTransactionReceipt(hash))!.status).to.equal(0);
      expect((await queue()).appended).to.equal(start + 5 * 64);
      // One revert and four successes: the window is four again, and two appends remain.
      await sent(service, 2);
      await chain.mine();
      expect((await queue()).appended).to.equal(size);
      expect(cancelled(service)).to.deep.equal([]);
    });

    it("are sent one at a time after they reverted, and one more after each that succeeds", async () => {
      await chain.deposit([20_000n]);
      const { size: first, appended: start } = await queue();
      await chain.nextSecond();
      await chain.deposit([20_000n]);
      await chain.nextSecond();
      await queueWithoutMining(7);
      let time = Date.now();
      const service = await services.start({ config: now, clock: () => time });
      await sent(service, 4);
      const hash = ((await underWay(service)) as [Transaction])[0].attempts[0]!.hash;
      // Another sender appends only the first note, while the node has forgotten the relayer's first append.
      await chain.rpc("hardhat_dropTransaction", hash);
      const other = new Wallet(OTHER_KEY, chain.provider);
      await other.sendTransaction({ ...(await appendOf(service, first - start)), gasLimit: 1_000_000n });
      await chain.mine();
      expect((await queue()).appended).to.equal(first);
      time += 3_000;
      await eventually(async () => (await chain.provider.getTransaction(hash)) !== null);
      await chain.mine();
      for (const count of [1, 2, 4]) {
        await sent(service, count);
        await rounds(service);
        expect(await underWay(service)).to.have.length(count);
        await chain.mine();
      }
      await chain.automine(true);
      await appended((await queue()).size);
    });

    it("continue in a new process, which waits for those that the earlier one sent", async () => {
      await queueWithoutMining(3);
      const { size } = await queue();
      const storeUrl = services.newStoreUrl();
      const earlier = await services.start({ config: now, storeUrl });
      await sent(earlier, 3);
      await services.stop(earlier);
      const later = await services.start({ config: now, storeUrl });
      await rounds(later);
      expect(await underWay(later)).to.have.length(3);
      await chain.mine();
      await chain.automine(true);
      await chain.deposit();
      await appended(size + 1);
    });

    it("continue in a new process if the one that the earlier process sent becomes stale", async () => {
      await chain.deposit([20_000n]);
      const { size: first, appended: start } = await queue();
      await chain.nextSecond();
      await chain.deposit([20_000n]);
      const { size } = await queue();
      await chain.automine(false);
      const storeUrl = services.newStoreUrl();
      const earlier = await services.start({ config: now, storeUrl });
      await sent(earlier, 1);
      const [{ attempts }] = (await underWay(earlier)) as [Transaction];
      const { hash } = attempts[0]!;
      const shorter = await appendOf(earlier, first - start);
      await services.stop(earlier);
      // While no process runs, the node forgets the append, and another sender appends fewer notes.
      await chain.rpc("hardhat_dropTransaction", hash);
      const other = new Wallet(OTHER_KEY, chain.provider);
      await other.sendTransaction({ ...shorter, gasLimit: 1_000_000n });
      await chain.mine();
      expect((await queue()).appended).to.equal(first);
      const time = Date.now() + 3_000;
      const later = await services.start({ config: now, storeUrl, clock: () => time });
      await eventually(async () => (await chain.provider.getTransaction(hash)) !== null);
      await rounds(later);
      expect(await underWay(later)).to.have.length(1);
      await chain.mine();
      expect((await chain.provider.getTransactionReceipt(hash))!.status).to.equal(0);
      await eventually(async () =>
        (await underWay(later)).some((append) => append.attempts[0]?.hash !== hash && isAtNode(append)),
      );
      await chain.mine();
      expect((await queue()).appended).to.equal(size);
    });

    it("are proved again if a reorganization queues more notes before a full append and the short one after it", async () => {
      await chain.deposit(FULL);
      await chain.deposit([20_000n]);
      await chain.automine(false);
      const { size } = await queue();
      let time = Date.now();
      const service = await services.start({ config: now, clock: () => time });
      await sent(service, 1);
      const [full] = (await underWay(service)) as [Transaction];
      const snapshot = await chain.rpc("evm_snapshot");
      await chain.mine();
      const short = await eventually(async () =>
        (await underWay(service)).find((append) => append.nonce === full.nonce + 1 && isAtNode(append)),
      );
      const { hash } = short.attempts[0]!;
      // The node forgets the block and the short append. The new block has a deposit before the full append.
      await chain.rpc("evm_revert", snapshot);
      const deposit = chain.pool.getFunction("deposit");
      const dearer = { maxPriorityFeePerGas: 10n ** 11n, maxFeePerGas: 10n ** 12n, gasLimit: 1_000_000n };
      await deposit([chain.random.field()], [20_000n], dearer);
      await chain.mine();
      expect(await queue()).to.deep.equal({ size: size + 1, appended: size - 1 });
      const call = { to: chain.deployment.pool, data: short.data };
      const error = await chain.provider.call(call).catch((thrown: { data: string }) => thrown);
      expect(chain.pool.interface.parseError((error as { data: string }).data)!.name).to.equal("AppendTooShort");
      time += 3_000;
      await eventually(async () => (await chain.provider.getTransaction(hash)) !== null);
      await chain.mine();
      expect((await chain.provider.getTransactionReceipt(hash))!.status).to.equal(0);
      await eventually(async () =>
        (await underWay(service)).some((append) => append.nonce > short.nonce && isAtNode(append)),
      );
      await chain.mine();
      expect((await queue()).appended).to.equal(size + 1);
      expect(cancelled(service)).to.deep.equal([]);
    });

    it("are sent although an append of someone else is pending, which may never be mined", async () => {
      await chain.deposit([20_000n, 20_000n]);
      const { size, appended: start } = await queue();
      const idle = await services.start();
      await eventually(async () => (await idle.store.ledger.leafCount()) === size);
      await chain.automine(false);
      const other = new Wallet(OTHER_KEY, chain.provider);
      // By default, the node of the tests estimates gas after the pending transactions.
      await other.sendTransaction({ ...(await appendOf(idle, size - start)), gasLimit: 1_000_000n });
      const { counted, prover } = countingProver();
      const service = await services.start({ config: now, prover });
      await sent(service, 1);
      expect(counted.proofs).to.equal(1);
      await chain.mine();
      expect((await queue()).appended).to.equal(size);
    });

    it("pay more if they are stuck, and are not cancelled while they wait for the append before them", async () => {
      await queueWithoutMining(2);
      const { size } = await queue();
      const service = await services.start({ config: { ...now, stuckAfter: 100 } });
      await sent(service, 2);
      await eventually(async () => (await underWay(service)).every(({ attempts }) => attempts.length > 1));
      await chain.mine();
      expect((await queue()).appended).to.equal(size);
      expect(cancelled(service)).to.deep.equal([]);
    });
  });

  /** An append of the next `count` notes, as another sender makes it. */
  async function appendOf({ store }: Service, count: number) {
    const source = connectChain({ urls: [chain.node.url], chainId: 31337n });
    const pool = parseAddress(chain.deployment.pool);
    const block = await source.head();
    const queue = await poolViews(source, pool).queue(block.number);
    const rows = await store.ledger.leaves(0, queue.appended + count);
    const leaves = rows.map(({ commitment }) => BigInt(commitment));
    const newest = new NewestCheckpoint();
    const options = { ...chain.place, pool, chain: source, block, queue, newest, prover: forgingProver };
    const tree = () => new NoteTree(leaves.slice(0, queue.appended));
    // The newest checkpoint is final once its second has passed.
    const proved = await eventually(() => proveAppend({ ...options, leaves: leaves.slice(queue.appended), tree }));
    return appendCall(chain.deployment.pool, proved.append);
  }
});
