// Rounds that take long, fail or end early.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openDatabase } from "@sotto/database";
import { createLog, createReadiness } from "@sotto/server";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { Registry } from "prom-client";
import { ACCEPT, type Judge, REFUSE } from "../../src/curator/judges/judge.ts";
import { webhookJudge } from "../../src/curator/judges/webhook.ts";
import { Publisher } from "../../src/curator/publish/publisher.ts";
import { Rounds } from "../../src/curator/rounds.ts";
import { translate } from "../../src/curator/service.ts";
import { MIGRATIONS, type Schema } from "../../src/curator/store/schema.ts";
import { CuratorStore } from "../../src/curator/store/store.ts";
import { storeVerdict } from "../../src/curator/verdicts.ts";
import { logPackPath } from "../../src/index.ts";
import { ALICE, CuratorWorld, SET, testJudge } from "../support/curator-world.ts";
import { headsOf, linesOf, membersOf, newestHead } from "../support/published.ts";

describe("the rounds of a curator", function () {
  slow(this, "it writes to disk");
  let world: CuratorWorld;
  let wallet: Wallet;
  let server: Server | undefined;
  /** Requests to the webhook. */
  let asked: number;

  beforeEach(async () => {
    world = new CuratorWorld();
    wallet = await world.wallet();
    asked = 0;
  });
  afterEach(async () => {
    await world.close();
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  /** A judge that asks a webhook. @param status of its answers; undefined: it never answers */
  async function webhook(timeoutMs: number, status?: number): Promise<Judge> {
    server = createServer((_request, response) => {
      asked += 1;
      if (status !== undefined) response.writeHead(status).end("{}");
    });
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return webhookJudge({ url, secret: "s".repeat(32), timeoutMs, againMs: 7_000, clock: world.now });
  }
  const deposits = (count: number) =>
    world.depositFrom(
      ALICE,
      wallet,
      Array.from({ length: count }, () => 5_000n),
    );

  it("have one leader, also while a judge takes longer than its lease", async () => {
    const raw = await openDatabase<Schema>({
      url: world.curatorOptions().store,
      name: "origin",
      migrations: MIGRATIONS,
    });
    const renewed = () =>
      eventually(async () => {
        const row = await raw.db.selectFrom("origin_leases").select("expires_at").executeTakeFirstOrThrow();
        return row.expires_at > world.now() + 10_000;
      });
    const other = await world.curator({ folder: join(world.folder, "other") });
    const judge: Judge = {
      ...testJudge(),
      async judge() {
        for (let i = 0; i < 3; i += 1) {
          world.ahead += 10;
          await renewed();
        }
        await other.round();
        assert.isFalse(other.leads);
        return ACCEPT;
      },
    };
    const one = await world.curator({ judges: () => [judge], renewMs: 5 });
    await deposits(1);
    await world.append();
    await world.round(one);
    assert.isTrue(one.leads);
    assert.deepEqual(membersOf(world.curatorOptions().folder), [0]);
    await raw.close();
  });

  it("sign heads and take refusals of a person while a webhook hangs", async () => {
    const hanging = await webhook(1_000);
    const asked: number[] = [];
    const judge: Judge = {
      ...hanging,
      judge: (deposit, stopping) => {
        asked.push(deposit.leaf);
        return hanging.judge(deposit, stopping);
      },
    };
    // Each round asks about one group.
    const curator = await world.curator({ judges: () => [judge], askingMs: 0 });
    for (let i = 0; i < 3; i += 1) await deposits(8);
    await world.append();
    await world.round(curator);
    const { folder, store } = world.curatorOptions();
    assert.lengthOf(asked, 16, "the others are asked about in the next round");
    assert.equal(newestHead(folder).head.leaves, 24);
    await storeVerdict({ store, set: SET }, "refuse", "23");
    await world.round(curator);
    assert.sameMembers(asked.slice(16, 23), [16, 17, 18, 19, 20, 21, 22]);
    assert.deepEqual(
      linesOf(folder, logPackPath).map((line) => JSON.parse(line).leaf),
      [23],
    );
  });

  it("ask about all deposits in turn, also if some wait for long", async () => {
    const judge: Judge = {
      ...testJudge(),
      judge: async ({ leaf }) => (leaf < 16 ? { verdict: "wait", again: world.now() } : ACCEPT),
    };
    const curator = await world.curator({ judges: () => [judge], askingMs: 0 });
    for (let i = 0; i < 3; i += 1) await deposits(8);
    await world.append();
    for (let i = 0; i < 2; i += 1) await world.round(curator);
    assert.deepEqual(membersOf(world.curatorOptions().folder), [16, 17, 18, 19, 20, 21, 22, 23]);
  });

  it("leave the lead to another replica if they stall", async () => {
    const other = await world.curator({ folder: join(world.folder, "other") });
    let end: () => void = () => undefined;
    const stalling = new Promise<void>((resolve) => {
      end = resolve;
    });
    let isAsked = false;
    const judge: Judge = {
      ...testJudge(),
      async judge() {
        isAsked = true;
        await stalling;
        return ACCEPT;
      },
    };
    const one = await world.curator({ judges: () => [judge], renewMs: 5, monotonic: world.now });
    await deposits(1);
    await world.append();
    const round = world.round(one).catch((error: unknown) => error);
    await eventually(async () => isAsked);
    world.ahead += 300;
    assert.isFalse(one.isStalled);
    world.ahead += 1;
    assert.isTrue(one.isStalled);
    await eventually(async () => {
      world.ahead += 20;
      await other.round();
      return other.leads;
    });
    end();
    assert.propertyVal(await round, "code", "LEASE_LOST");
  });

  it("judge again what a person accepted, also after a restart", async () => {
    const { store, folder } = world.curatorOptions();
    let verdict: Awaited<ReturnType<Judge["judge"]>> = REFUSE;
    const judges = () => [{ ...testJudge(), judge: async () => verdict }];
    const first = await world.curator({ judges });
    await deposits(1);
    await world.append();
    await world.round(first);
    await storeVerdict({ store, set: SET }, "accept", "0");
    verdict = { verdict: "wait", again: world.now() };
    await world.round(first);
    await first.close();
    verdict = ACCEPT;
    const second = await world.curator({ judges });
    await world.round(second);
    assert.deepEqual(membersOf(folder), [0]);
  });

  it("judge nothing again that another replica has judged since", async () => {
    let verdict: Awaited<ReturnType<Judge["judge"]>> = REFUSE;
    const judges = () => [{ ...testJudge(), judge: async () => verdict }];
    const one = await world.curator({ judges });
    const other = await world.curator({ judges, folder: join(world.folder, "other") });
    await deposits(1);
    await world.append();
    await world.round(one);
    await storeVerdict({ store: world.curatorOptions().store, set: SET }, "accept", "0");
    verdict = { verdict: "wait", again: 0 };
    await world.round(one);
    const lead = async (replica: typeof one) => {
      world.ahead += 60;
      await world.round(replica);
      assert.isTrue(replica.leads);
    };
    verdict = ACCEPT;
    await lead(other);
    verdict = REFUSE;
    await lead(one);
    assert.deepEqual(membersOf(world.curatorOptions().folder), [0]);
  });

  it("end early when the curator stops", async () => {
    const judge = await webhook(60_000);
    const curator = await world.curator({ judges: () => [judge] });
    await deposits(1);
    const round = world.round(curator);
    await eventually(async () => asked > 0);
    curator.stop();
    await round;
    assert.isEmpty(linesOf(world.curatorOptions().folder, logPackPath));
  });

  it("log and count a judge that fails, once it is asked", async () => {
    const lines: string[] = [];
    const metrics = new Registry();
    const log = createLog("warn", { write: (line) => void lines.push(line) });
    const judge = await webhook(60_000, 500);
    const curator = await world.curator({ judges: () => [judge], log, metrics });
    await deposits(1);
    await world.round(curator);
    assert.include(await metrics.metrics(), 'sotto_origin_judgements_total{judge="webhook",verdict="failed"} 1');
    const { err, judge: name } = JSON.parse(lines.at(-1)!);
    assert.deepEqual([name, err.code], ["webhook", "ORIGIN_JUDGE_FAILED"]);
    assert.include(err.message, "answers 500");
  });

  it("say why the last one failed", async () => {
    let act: () => Promise<void> = async () => undefined;
    const rounds = new Rounds(() => act(), 1, createLog("silent"));
    const check = async () => {
      const needs = { rounds: () => rounds.check() };
      return (await createReadiness({ needs, closing: () => false, translate })()).checks["rounds"]!;
    };
    assert.deepEqual(await check(), { ok: false, code: "STARTING" });
    rounds.start();
    await eventually(async () => (await check()).ok);
    act = () => Promise.reject(Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR" }));
    assert.equal(await eventually(async () => (await check()).code), "STORE_UNAVAILABLE");
    act = async () => undefined;
    await eventually(async () => (await check()).ok);
    await rounds.stop();
  });

  it("say in the log if a head has another policy than the one before", async () => {
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(line) });
    const policies: string[] = [];
    for (const description of ["one", "other", "other"]) {
      const curator = await world.curator({ description, log });
      await deposits(1);
      await world.round(curator);
      policies.push(curator.newest!.signed.head.policy);
      await curator.close();
    }
    const told = lines.map((line) => JSON.parse(line)).filter(({ to }) => to !== undefined);
    assert.deepEqual(
      told.map(({ from, to }) => [from, to]),
      [[policies[0], policies[1]]],
    );
  });

  it("of two replicas publish into one folder at once", async () => {
    const { store, folder } = world.curatorOptions();
    const curator = await world.curator({ folder: join(world.folder, "other") });
    await deposits(3);
    await world.append();
    await world.round(curator);
    const database = await CuratorStore.open({ url: store, set: SET });
    const newest = curator.newest!;
    await Promise.all([1, 2, 3].map(() => new Publisher(database, folder).publish(newest)));
    assert.deepEqual(
      headsOf(folder).map(({ head }) => head.number),
      [0],
    );
    assert.deepEqual(membersOf(folder), [0, 1, 2]);
    await database.close();
  });

  it("share the reading of the database with claims that come together", async () => {
    let readings = 0;
    const onQuery = (sql: string) => {
      if (sql.includes("origin_facts")) readings += 1;
    };
    const curator = await world.curator({ onQuery });
    await world.round(curator);
    readings = 0;
    const claim = { nullifier: 5n, maskRoot: 7n, proof: Array.from({ length: 8 }, () => "1") };
    const results = await Promise.all(Array.from({ length: 50 }, () => curator.claim([claim], "client")));
    assert.deepEqual([...new Set(results.flat())], ["ORIGIN_ROOT_UNKNOWN"]);
    assert.isAtMost(readings, 2);
  });
});
