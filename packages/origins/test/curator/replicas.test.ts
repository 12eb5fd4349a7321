import { cpSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openDatabase } from "@sotto/database";
import { overDatabases } from "@sotto/test-kit/databases";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import { MIGRATIONS, type Schema } from "../../src/curator/store/schema.ts";
import { encodeHead, headDigest, MaskTree, nextHead, type SignedHead } from "../../src/index.ts";
import { ALICE, BOB, CuratorWorld, SET } from "../support/curator-world.ts";
import { audit, headsOf, membersOf, newestHead } from "../support/published.ts";

overDatabases("replicas of a curator", ["PostgreSQL", "SQLite"], (newUrl) => {
  let world: CuratorWorld;
  let wallet: Wallet;
  let store: string;

  beforeEach(async () => {
    world = new CuratorWorld();
    // Shorter than a lease, which lasts by the world's clock on SQLite.
    world.slotSeconds = 10;
    wallet = await world.wallet();
    store = await newUrl();
  });
  afterEach(() => world.close());

  const folderOf = (name: string) => join(world.folder, name);
  const replica = (name: string) => world.curator({ store, folder: folderOf(name) });

  it("have one leader, publish the same heads, and take claims", async () => {
    const [one, two] = [await replica("one"), await replica("two")];
    for (let slot = 0; slot < 3; slot += 1) {
      await world.depositFrom(ALICE, wallet, [5_000n]);
      await world.append();
      await world.settleNullifier(70n + BigInt(slot));
      world.nextSlot();
      await Promise.all([one.round(), two.round()]);
      const { maskRoot } = (one.newest ?? two.newest)!.signed.head;
      const claim = { nullifier: 70n + BigInt(slot), maskRoot, proof: Array.from({ length: 8 }, () => "1") };
      const results = await Promise.all([one, two].map((curator) => curator.claim([claim], "client")));
      assert.sameMembers(results.flat(), ["stored", "known"]);
    }
    world.nextSlot();
    await Promise.all([one.round(), two.round()]);
    // The one that does not lead publishes what the leader signed in its next round.
    await Promise.all([one.round(), two.round()]);
    assert.equal(Number(one.leads) + Number(two.leads), 1);
    const heads = headsOf(folderOf("one")).map(({ head }) => headDigest(head));
    assert.deepEqual(
      headsOf(folderOf("two")).map(({ head }) => headDigest(head)),
      heads,
    );
    assert.deepEqual(membersOf(folderOf("two")), [0, 1, 2, 3, 4, 5, 6]);
    for (const name of ["one", "two"]) {
      const { contradictions, claims } = await audit(world, folderOf(name), SET);
      assert.deepEqual([contradictions, claims], [[], 3]);
    }
  });

  it("take over from a leader that stopped, and judge its deposits", async () => {
    const [one, two] = [await replica("one"), await replica("two")];
    await world.round(one);
    await world.round(two);
    assert.deepEqual([one.leads, two.leads], [true, false]);
    await one.close();
    await world.depositFrom(BOB, wallet, [5_000n]);
    await world.append();
    await world.round(two);
    assert.isTrue(two.leads);
    assert.deepEqual(membersOf(folderOf("two")), [0]);
    assert.isEmpty((await audit(world, folderOf("two"), SET)).contradictions);
  });

  it("write nothing after another replica took over", async () => {
    const one = await replica("one");
    await world.round(one);
    const raw = await openDatabase<Schema>({ url: store, name: "origin", migrations: MIGRATIONS });
    await raw.db
      .updateTable("origin_leases")
      .set({ holder: "another", token: 99, expires_at: 2 ** 50 })
      .execute();
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.round(one);
    assert.isFalse(one.leads);
    assert.lengthOf(headsOf(folderOf("one")), 1);
    await raw.close();
  });

  it("refuse a second head of a number or a slot in the database itself", async () => {
    const one = await replica("one");
    await world.round(one);
    const raw = await openDatabase<Schema>({ url: store, name: "origin", migrations: MIGRATIONS });
    const row = await raw.db.selectFrom("origin_heads").selectAll().executeTakeFirstOrThrow();
    for (const change of [{ time: row.time + 60 }, { number: 1 }]) {
      const second = raw.db.insertInto("origin_heads").values({ ...row, ...change });
      assert.match(String(await second.execute().catch((error: unknown) => error)), /unique/i);
    }
    await raw.close();
  });
});

describe("the database of a curator", function () {
  slow(this, "it writes to disk");
  let world: CuratorWorld;
  let wallet: Wallet;
  let server: Server | undefined;

  beforeEach(async () => {
    world = new CuratorWorld();
    wallet = await world.wallet();
  });
  afterEach(async () => {
    await world.close();
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  const path = () => join(world.folder, "curator.db");
  const change = async () => {
    await world.depositFrom(ALICE, wallet, [5_000n]);
    await world.append();
  };

  /** Runs a curator for a slot after a backup of its database. @returns the published head that the backup lacks */
  async function outdate(): Promise<SignedHead> {
    const curator = await world.curator();
    await change();
    await world.round(curator);
    await curator.close();
    cpSync(path(), `${path()}.backup`);
    const later = await world.curator();
    await change();
    await world.round(later);
    await later.close();
    const head = newestHead(world.curatorOptions().folder);
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path()}${suffix}`, { force: true });
    cpSync(`${path()}.backup`, path());
    return head;
  }

  /** Shows a head at a URL. */
  async function show(head: SignedHead | string): Promise<string> {
    const body = typeof head === "string" ? head : JSON.stringify(encodeHead(head));
    server = createServer((_request, response) => response.end(body));
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/origins`;
  }

  it("is refused after an old backup was restored, by what its folder, its URL or a mirror shows", async () => {
    const head = await outdate();
    const { folder } = world.curatorOptions();
    const error = await expectRejected("ORIGIN_STORE_OUTDATED", () => world.curator());
    assert.match(error.message, /shows head 1 of this set, and the database ends with head 0/);
    rmSync(folder, { recursive: true });
    const url = await show(head);
    await expectRejected("ORIGIN_STORE_OUTDATED", () => world.curator({ shownAt: ["http://127.0.0.1:1", url] }));
    assert.isDefined(await world.curator({ shownAt: ["http://127.0.0.1:1"] }), "nobody shows a newer head");
  });

  it("is refused if another head of its number was published, and not for heads of other sets or for other texts", async () => {
    const curator = await world.curator();
    await change();
    await world.round(curator);
    const own = curator.newest!.signed;
    await curator.close();
    const secret = Buffer.from("11".repeat(32), "hex");
    const { head } = own;
    const other = (facts: object) => nextHead(new MaskTree(() => 0n), { ...head, ...facts }, undefined, secret).signed;
    const cases: [SignedHead | string, boolean][] = [
      [other({}), true],
      [other({ name: "other" }), false],
      [own, false],
      ["{}", false],
      ["x".repeat(10_000), false],
    ];
    for (const [shown, refused] of cases) {
      const url = await show(shown);
      if (refused) await expectRejected("ORIGIN_STORE_OUTDATED", () => world.curator({ shownAt: [url] }));
      else await (await world.curator({ shownAt: [url] })).close();
      server!.closeAllConnections();
      server!.close();
    }
  });

  it("is refused if its own last head does not follow from it", async () => {
    const curator = await world.curator();
    await change();
    await world.round(curator);
    await curator.close();
    const raw = await openDatabase<Schema>({ url: `sqlite:${path()}`, name: "origin", migrations: MIGRATIONS });
    await raw.db.updateTable("origin_leaves").set({ commitment: "0x5" }).where("leaf", "=", 0).execute();
    await expectRejected("ORIGIN_STORE_DAMAGED", () => world.curator());
    await raw.close();
  });
});
