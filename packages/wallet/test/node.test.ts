import { ChainError, type ChainSource, type Log } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import { rejection } from "@sotto/test-kit/rejection";
import { MemoryStore } from "@sotto/wallet";
import { expect } from "chai";
import { nodeOf, nodesOf } from "./support/several-nodes.ts";
import { URL, World } from "./support/world.ts";

const SEED = new Uint8Array(32).map((_, i) => 13 * i + 1);

/** The world's chain, with some changed responses. */
const changed = ({ chain }: World, changes: Partial<ChainSource>): ChainSource => nodeOf(chain, changes);

const logsWhere = (world: World, edit: (logs: Log[]) => Log[]): Partial<ChainSource> => ({
  logs: async (query) => edit(await world.chain.logs(query)),
});
const topic = (name: string) => poolInterface.getEvent(name)!.topicHash;

async function scanWith(world: World, changes: Partial<ChainSource>) {
  const store = new MemoryStore();
  const wallet = await world.wallet({ seed: SEED, chain: changed(world, changes), store });
  return { wallet, error: await rejection(wallet.scan()), store };
}

describe("a faulty node", () => {
  let world: World;
  beforeEach(async () => {
    world = new World();
    await world.funded([5_000n, 6_000n], { seed: SEED });
    world.chain.mineMany(3);
  });

  it("is detected if it omits a deposit", async () => {
    const { error } = await scanWith(
      world,
      logsWhere(world, (logs) => logs.slice(1)),
    );
    expect(error.code).to.equal("NODE_INCONSISTENT");
    expect(error.message).to.match(/omitted.*leaf 1 /);
  });

  it("is detected if it omits an append", async () => {
    const { error } = await scanWith(
      world,
      logsWhere(world, (logs) => logs.filter(({ topics }) => topics[0] !== topic("Appended"))),
    );
    // The wallet's tree is empty, so its root differs from the contract's.
    expect(error.code).to.equal("ROOT_MISMATCH");
  });

  it("may answer with the state of the block that it mines: the root is read again", async () => {
    let answers = 0;
    const mining = changed(world, {
      call: async (call, block) => {
        // The first call reads the root, as it is after the next append.
        const isEarly = call.data === poolInterface.encodeFunctionData("root") && answers++ === 0;
        return isEarly ? `0x${"07".repeat(32)}` : world.chain.call(call, block);
      },
    });
    const wallet = await world.wallet({ seed: SEED, chain: mining });
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(11_000n);
    expect(answers).to.equal(2);
  });

  it("is detected if it omits one append of several", async () => {
    await world.deposit(await world.wallet(), [7_000n]);
    await world.append();
    const { error } = await scanWith(
      world,
      logsWhere(world, (logs) => {
        const first = logs.findIndex(({ topics }) => topics[0] === topic("Appended"));
        return logs.filter((_, i) => i !== first);
      }),
    );
    expect(error.code).to.equal("NODE_INCONSISTENT");
  });

  it("is detected if it changes a commitment", async () => {
    const { error } = await scanWith(
      world,
      logsWhere(world, (logs) =>
        logs.map((log) => {
          if (log.topics[0] !== topic("Deposited")) return log;
          const [amount, , leafIndex] = [...poolInterface.parseLog(log)!.args].slice(1);
          const tag = BigInt(log.topics[1]!);
          return { ...log, ...poolInterface.encodeEventLog("Deposited", [tag, amount, 12345n, leafIndex]) };
        }),
      ),
    );
    expect(error.code).to.equal("ROOT_MISMATCH");
    expect(error.message).to.match(/another node/);
  });

  it("is detected if it returns logs from other blocks or another contract", async () => {
    const shifted = logsWhere(world, (logs) => logs.map((log) => ({ ...log, blockNumber: 10_000 })));
    expect((await scanWith(world, shifted)).error.code).to.equal("NODE_INCONSISTENT");
    const back = (logs: Log[]) =>
      logs.map((log, i) => ({ ...log, blockNumber: logs[logs.length - 1 - i]!.blockNumber }));
    const { error } = await scanWith(world, logsWhere(world, back));
    expect(error.code).to.equal("NODE_INCONSISTENT");
    expect(error.message).to.include("out of order");
    const garbage = logsWhere(world, (logs) => logs.map((log) => ({ ...log, data: "0x12" })));
    expect((await scanWith(world, garbage)).error.code).to.equal("NODE_INCONSISTENT");
    const strange = await world.wallet({
      seed: SEED,
      chain: changed(
        world,
        logsWhere(world, (logs) => logs.flatMap((log) => [log, { ...log, topics: [`0x${"99".repeat(32)}`] }])),
      ),
    });
    await strange.scan();
    expect(strange.balance().total).to.equal(11_000n);
  });

  it("is sufficient if it only lacks historical state", async () => {
    const pruned = changed(world, {
      call: async (call, block) => {
        if (block !== undefined) throw new ChainError("NODE_ERROR", "missing trie node");
        return world.chain.call(call);
      },
    });
    const wallet = await world.wallet({ seed: SEED, chain: pruned });
    await wallet.scan();
    expect(wallet.balance().spendable).to.equal(11_000n);
  });

  it("is not trusted to confirm the root of the events after any other fault", async () => {
    for (const code of ["NODE_UNREACHABLE", "NODE_INCONSISTENT", "WRONG_CHAIN"] as const) {
      const { error } = await scanWith(world, {
        call: async (call, block) => {
          if (block !== undefined) throw new ChainError(code, "the node is at fault");
          return world.chain.call(call);
        },
      });
      expect(error.code).to.equal(code);
    }
  });

  it("does not provide the time that expires payments if it is on another fork", async () => {
    const fork = changed(world, {
      block: async (number) => {
        const block = await world.chain.block(number);
        return block && { ...block, hash: `0x${"99".repeat(32)}`, timestamp: block.timestamp + 1_000_000 };
      },
      logs: () => Promise.reject(new ChainError("NODE_UNREACHABLE", "the node does not answer")),
    });
    for (const nodes of [
      [changed(world, {}), fork],
      [fork, changed(world, {})],
    ]) {
      const wallet = await world.wallet({ seed: SEED, chain: nodesOf(...nodes), finality: 1 });
      await wallet.scan();
      const { id } = await wallet.pay({ recipient: world.recipient(wallet), amount: 1_000n, resourceUrl: URL });
      const before = wallet.status(id);
      world.chain.mineMany(2);
      await wallet.scan();
      expect(wallet.status(id)).to.deep.equal(before);
    }
  });

  it("is rejected if it has not reached the pool's deployment", async () => {
    const { error } = await scanWith(world, { head: async () => ({ number: -1, hash: "0x", timestamp: 0 }) });
    expect(error.code).to.equal("NODE_INCONSISTENT");
  });

  it("leaves no wrong state behind: the wallet continues with another node", async () => {
    const lies: ((logs: Log[]) => Log[])[] = [
      (logs) => logs.slice(1),
      (logs) => logs.slice(0, -1),
      (logs) => logs.filter(({ topics }) => topics[0] !== topic("Deposited")),
      (logs) => logs.filter(({ topics }) => topics[0] !== topic("Appended")),
      // The commitment of another note, and two invalid commitments: 0 and a value above p.
      ...["1", "0", "f"].map(
        (digit) => (logs: Log[]) =>
          logs.map((log) => {
            if (log.topics[0] !== topic("Deposited")) return log;
            return { ...log, data: `${log.data.slice(0, 2 + 64)}${digit.repeat(64)}${log.data.slice(2 + 128)}` };
          }),
      ),
    ];
    const CODES = ["NODE_INCONSISTENT", "ROOT_MISMATCH", "POOL_MISMATCH"];
    for (const [i, lie] of lies.entries()) {
      let lying = true;
      const chain = changed(
        world,
        logsWhere(world, (logs) => (lying ? lie(logs) : logs)),
      );
      const store = new MemoryStore();
      // With small ranges, some pages are stored before the wallet detects the lie.
      const wallet = await world.wallet({ seed: SEED, store, chain, rangeSize: 1 });
      expect((await rejection(wallet.scan())).code, `lie ${i}`).to.be.oneOf(CODES);
      lying = false;
      await wallet.scan();
      const reopened = await world.wallet({ seed: SEED, store });
      await reopened.scan();
      for (const one of [wallet, reopened]) expect(one.balance().spendable, `lie ${i}`).to.equal(11_000n);
    }
  });

  it("is detected at the next leaf if it omits queued leaves", async () => {
    await world.deposit(await world.wallet(), [7_000n]);
    let lying = true;
    const last = world.chain.height;
    const chain = changed(
      world,
      logsWhere(world, (logs) => (lying ? logs.filter(({ blockNumber }) => blockNumber !== last) : logs)),
    );
    const wallet = await world.wallet({ seed: SEED, chain });
    await wallet.scan();
    await world.deposit(wallet, [8_000n]);
    lying = false;
    expect((await rejection(wallet.scan())).code).to.equal("NODE_INCONSISTENT");
    await wallet.scan();
    expect(wallet.balance().total).to.equal(19_000n);
  });

  it("invalidates only unchecked pages if it fails later", async () => {
    let lying = false;
    const chain = changed(
      world,
      logsWhere(world, (logs) => (lying ? [] : logs)),
    );
    const wallet = await world.wallet({ seed: SEED, chain, finality: 2, rangeSize: 3 });
    for (let i = 0; i < 5; i += 1) {
      await world.deposit(await world.wallet(), Array(4).fill(7_000n));
      await world.append();
      world.chain.mineMany(2);
      await wallet.scan();
    }
    lying = true;
    await world.deposit(await world.wallet(), [7_000n]);
    await world.append();
    world.chain.mineMany(2);
    expect((await rejection(wallet.scan())).code).to.equal("ROOT_MISMATCH");
    lying = false;
    const { blocks } = await wallet.scan();
    expect(blocks).to.be.below(world.chain.height - 5);
    expect(wallet.balance().spendable).to.equal(11_000n);
  });
});
