import type { Block, Log } from "@sotto/chain";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore, NoteAppender, type Store, ViewingWallet, type Wallet } from "@sotto/wallet";
import { paymentsCsv } from "@sotto/wallet/receipts";
import { SqliteStore } from "@sotto/wallet/sqlite";
import { expect } from "chai";
import { SEED, start } from "./support/merchant.ts";
import { RecordingNode } from "./support/recording-node.ts";
import type { World } from "./support/world.ts";

const timeless = ({ timestamp: _, ...log }: Log): Log => log;
const NODES: [string, (log: Log) => Log][] = [
  ["that gives times with the logs", (log) => log],
  ["that gives none", timeless],
];

describe("block times of payments", () => {
  let world: World;
  let payer: Wallet;
  let merchant: Wallet;
  let id: string;
  let block: number;
  let settled: string;
  beforeEach(async () => {
    const started = await start([5_000n, 1_700n], { finality: 1 });
    ({ world, payer, merchant } = started);
    world.chain.mineMany(3);
    const payment = await payer.pay(started.request);
    ({ id } = payment);
    const mined = world.settle(payment);
    block = mined.number;
    settled = new Date(mined.timestamp * 1000).toISOString();
    world.chain.mineMany(4);
    await payer.scan();
    await merchant.scan();
  });

  /** A payer with the same seed and journal but its own store, at `node`. */
  async function restored(node: RecordingNode, store: Store = new MemoryStore()): Promise<Wallet> {
    await store.put("identity", (await payer.store.get("identity"))!.value);
    for (const { key, value } of await payer.store.list("spend/")) await store.put(key, value);
    return world.wallet({ seed: SEED, chain: node.source, store, finality: 1, rangeSize: 3 });
  }

  for (const [what, edit] of NODES)
    it(`need no further request, also from a node ${what}`, async () => {
      const node = new RecordingNode(world.chain, edit);
      const options = { chain: node.source, chainId: 31337n, pool: POOL, deploymentBlock: 0, finality: 1 };
      const server = await ViewingWallet.open({
        ...options,
        keys: merchant.viewingKeys({ lasting: true }),
        store: new MemoryStore(),
      });
      const wallet = await restored(node);
      await server.scan();
      await wallet.scan();
      node.asked.length = 0;
      const payments = await wallet.payments({ decimals: 6 });
      const receipt = await wallet.receipt(id, { showDeposit: true });
      expect(payments[0]).to.include({ id, settled, block });
      expect(paymentsCsv(payments)).to.include(settled);
      expect(receipt).to.include({ block, transaction: payer.status(id).transactionHash });
      expect(server.received()[0]!.timestamp).to.equal(Date.parse(settled) / 1000);
      expect(wallet.status(id).timestamp).to.equal(Date.parse(settled) / 1000);
      expect(node.asked).to.deep.equal([]);
    });

  for (const [what, edit] of NODES)
    it(`are fetched with requests that do not depend on the wallet, from a node ${what}`, async () => {
      const nodes = [new RecordingNode(world.chain, edit), new RecordingNode(world.chain, edit)] as const;
      // One wallet has a deposit, change and a payment; the other has nothing.
      const wallet = await restored(nodes[0]);
      const other = await world.wallet({ chain: nodes[1].source, finality: 1, rangeSize: 3 });
      const look = async () => {
        for (const one of [wallet, other]) await one.scan();
        for (const one of [wallet, other]) await one.payments({ decimals: 6 });
      };
      await look();
      await wallet.receipt(id, { showDeposit: true });
      await world.deposit(merchant, [1_900n]);
      await world.append();
      await look();
      world.chain.takeBack(5);
      world.chain.mineMany(7);
      await look();
      expect([wallet.notes().length, other.notes().length]).to.deep.equal([3, 0]);
      expect(nodes[0].asked).to.deep.equal(nodes[1].asked);
      expect(nodes[0].asked).to.include(`logs ${POOL} 0 2`);
    });

  it("are requested for all blocks with events if the logs have no times", async () => {
    const after = world.chain.time + 1;
    const wrong: ((log: Log) => unknown)[] = [
      () => 0,
      () => -5,
      () => 1.5,
      () => Number.NaN,
      () => Number.MAX_SAFE_INTEGER,
      () => after,
      ({ blockNumber }) => (blockNumber === block ? "soon" : world.chain.blocks[blockNumber]!.timestamp),
    ];
    for (const [i, lie] of wrong.entries()) {
      const node = new RecordingNode(world.chain, (log) => ({ ...log, timestamp: lie(log) as number }));
      const wallet = await world.wallet({ seed: SEED, chain: node.source });
      await wallet.scan();
      const blocks = world.chain.blocks.filter(({ logs }) => logs.length > 0);
      expect(node.asked, `lie ${i}`).to.include.members(blocks.map(({ number }) => `block ${number}`));
      for (const { blockNumber, timestamp } of wallet.notes())
        expect(timestamp, `lie ${i}`).to.equal(world.chain.blocks[blockNumber]!.timestamp);
    }
  });

  it("are rejected if impossible", async () => {
    const absurd: ((block: Block) => number)[] = [
      () => 0,
      () => Number.MAX_SAFE_INTEGER,
      ({ number }) => 1_900_000_000 - number,
    ];
    for (const [i, lie] of absurd.entries()) {
      const header = (found: Block) => ({ ...found, timestamp: lie(found) });
      const wallet = await world.wallet({ seed: SEED, chain: new RecordingNode(world.chain, timeless, header).source });
      expect((await rejection(wallet.scan())).code, `lie ${i}`).to.equal("NODE_INCONSISTENT");
    }
  });

  for (const [what, edit] of NODES)
    it(`match the chain after a reorganization, also from a node ${what}`, async () => {
      const node = new RecordingNode(world.chain, edit);
      const wallet = await restored(node);
      await wallet.scan();
      const payment = await wallet.pay({
        recipient: world.recipient(merchant),
        amount: 900n,
        resourceUrl: "https://a.example",
      });
      world.settle(payment);
      await wallet.scan();
      const before = wallet.status(payment.id).timestamp!;
      world.chain.takeBack(1);
      world.chain.mine();
      world.settle(payment);
      await wallet.scan();
      expect(wallet.status(payment.id).timestamp).to.be.greaterThan(before).and.to.equal(world.chain.time);
    });

  it("are consistent, even if the chain changes between logs and blocks", async () => {
    let left = 1;
    const node = new RecordingNode(world.chain, timeless, (found) => {
      if (found.number !== block || left === 0) return found;
      left -= 1;
      return { ...found, hash: `0x${"00".repeat(32)}`, timestamp: 1_700_000_000 };
    });
    const wallet = await restored(node);
    await wallet.scan();
    expect(left).to.equal(0);
    expect((await wallet.payments({ decimals: 6 }))[0]).to.include({ id, settled });
  });

  it("are not requested by a reader without keys", async () => {
    const node = new RecordingNode(world.chain, timeless);
    const options = { ...world.options(), prover: world.prover, chain: node.source };
    await (await NoteAppender.open(options)).scan();
    expect(node.asked).to.not.include(`block ${block}`);
  });

  for (const [name, open] of [
    ["in memory", () => new MemoryStore()],
    ["in SQLite", () => new SqliteStore(":memory:")],
  ] as const)
    it(`are stored ${name}, with everything that a receipt shows`, async () => {
      const store = open();
      const first = await restored(new RecordingNode(world.chain), store);
      await first.scan();
      const node = new RecordingNode(world.chain);
      const again = await restored(node, store);
      await again.scan();
      expect(node.asked.filter((question) => question.startsWith("logs"))).to.deep.equal([]);
      expect(again.notes()).to.deep.equal(first.notes());
      expect(await again.payments({ decimals: 6 })).to.deep.equal(await first.payments({ decimals: 6 }));
      expect(await again.receipt(id, { showDeposit: true })).to.include({ block });
      await store.close();
    });
});
