import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { Registry } from "prom-client";
import { logPackPath, MAX_ENTRY_BYTES } from "../../src/index.ts";
import { ALICE, BOB, CuratorWorld, SET, testJudge } from "../support/curator-world.ts";
import { audit, headsOf, linesOf, membersOf, newestHead, policyOf } from "../support/published.ts";

describe("a curator", function () {
  slow(this, "it writes to disk");
  let world: CuratorWorld;
  let wallet: Wallet;
  let folder: string;

  beforeEach(async () => {
    world = new CuratorWorld();
    wallet = await world.wallet();
    ({ folder } = world.curatorOptions());
  });
  afterEach(() => world.close());

  const judgements = () =>
    linesOf(folder, logPackPath).map((line) => {
      const { type, leaf } = JSON.parse(line);
      return `${type} ${leaf}`;
    });

  it("publishes the accepted deposits that are in the pool's tree, and nothing twice", async () => {
    const curator = await world.curator({ judges: () => [testJudge(new Set([BOB]))] });
    await world.depositFrom(ALICE, wallet, [5_000n, 6_000n]);
    await world.depositFrom(BOB, wallet, [7_000n]);
    await world.round(curator);
    assert.deepInclude(newestHead(folder).head, { number: 0, leaves: 0, entries: 3, claims: 0, ...SET });
    assert.deepEqual(membersOf(folder), []);
    await world.append();
    await world.round(curator);
    assert.deepEqual(membersOf(folder), [0, 1]);
    assert.deepEqual(judgements(), ["accept 0", "accept 1", "refuse 2"]);
    world.chain.mine();
    await world.round(curator);
    await curator.round();
    assert.lengthOf(headsOf(folder), 2, "nothing changed");
    const { contradictions, members } = await audit(world, folder, SET);
    assert.deepEqual(contradictions, []);
    assert.equal(members, 2);
    assert.deepInclude(policyOf(folder), {
      name: "clean",
      description: "test",
      confirmations: 1,
      judges: [{ judge: "test" }],
    });
    assert.isBelow(Buffer.byteLength(linesOf(folder, logPackPath)[0]!), MAX_ENTRY_BYTES);
  });

  it("signs one head in each slot, also if more changed, and one an hour if nothing did", async () => {
    const curator = await world.curator();
    await world.round(curator);
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await curator.round();
    assert.lengthOf(headsOf(folder), 1);
    await world.round(curator);
    assert.lengthOf(headsOf(folder), 2);
    world.ahead += 3_500;
    await curator.round();
    assert.lengthOf(headsOf(folder), 2);
    world.ahead += 160;
    await curator.round();
    const [, second, third] = headsOf(folder);
    assert.isAtLeast(third!.head.time - second!.head.time, 3_600);
    assert.equal(third!.head.maskRoot, second!.head.maskRoot);
  });

  it("reads blocks only once they have their confirmations", async () => {
    const curator = await world.curator({ confirmations: 3 });
    world.chain.mineMany(3);
    await world.depositFrom(ALICE, wallet, [5_000n]);
    world.chain.mine();
    await world.round(curator);
    assert.equal(newestHead(folder).head.entries, 0);
    world.chain.mine();
    await world.round(curator);
    assert.equal(newestHead(folder).head.entries, 1);
  });

  it("judges a deposit that takes the place of a removed one, and computes the same set after a restart", async () => {
    const curator = await world.curator();
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.append();
    await world.depositFrom(ALICE, wallet, [6_000n]);
    await world.append();
    await world.round(curator);
    assert.deepEqual(membersOf(folder), [0, 1]);
    world.chain.takeBack(2);
    await world.depositFrom(BOB, wallet, [7_000n]);
    world.chain.mineMany(3);
    await world.round(curator);
    assert.deepEqual(judgements(), ["accept 0", "accept 1", "accept 1"], "the leaf is another deposit");
    const [, first, second] = linesOf(folder, logPackPath).map((line) => JSON.parse(line).transaction);
    assert.notEqual(first, second);
    assert.deepEqual(membersOf(folder), [0]);
    await curator.close();
    const again = await world.curator();
    await world.round(again);
    assert.lengthOf(headsOf(folder), 2, "the same set");
    await world.append();
    await world.round(again);
    assert.deepEqual(membersOf(folder), [0, 1]);
    const { contradictions, orphaned } = await audit(world, folder, SET);
    assert.deepEqual([contradictions, orphaned], [[], 1]);
  });

  it("signs a new head if a reorganization removed the newest one's block, and nothing else changed", async () => {
    const curator = await world.curator();
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.append();
    world.chain.mine();
    await world.round(curator);
    world.chain.takeBack(1);
    world.chain.mineMany(2);
    await world.round(curator);
    await world.round(curator);
    const [first, second, ...others] = headsOf(folder).map(({ head }) => head);
    assert.isEmpty(others);
    assert.equal(second!.maskRoot, first!.maskRoot);
    assert.notEqual(second!.blockHash, first!.blockHash);
    const { contradictions, orphaned } = await audit(world, folder, SET);
    assert.deepEqual([contradictions, orphaned], [[], 1]);
  });

  it("refuses a database of another set", async () => {
    await world.curator();
    await expectRejected("ORIGIN_STORE_MISMATCH", () => world.curator({ set: { ...SET, name: "other" } }));
  });

  it("shows counters from the start, and gauges of its newest head", async () => {
    const metrics = new Registry();
    const curator = await world.curator({ metrics });
    const before = await metrics.metrics();
    assert.include(before, 'sotto_origin_judgements_total{judge="test",verdict="refuse"} 0');
    assert.include(before, 'sotto_origin_claims_total{result="stored"} 0');
    assert.include(before, "sotto_origin_heads_total 0");
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.append();
    await world.round(curator);
    const after = await metrics.metrics();
    for (const line of ["set_leaves 1", "log_entries 1", "waiting_deposits 0", "heads_total 1", "leader 1"])
      assert.include(after, `sotto_origin_${line}`);
    assert.include(after, 'judgements_total{judge="all",verdict="accept"} 1');
  });
});
