import { openDatabase } from "@sotto/database";
import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { sql } from "kysely";
import { randomCode, storeCode, tryCode } from "../src/codes/codes.ts";
import { KeyRing } from "../src/crypto/key-ring.ts";
import { MIGRATIONS } from "../src/store/migrations.ts";
import type { Schema } from "../src/store/schema.ts";
import { overWorlds } from "./support/suite.ts";
import { key, NOW, refused, slot, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";
const MINUTE = 60_000;
/** A code other than this one. */
const wrong = (code: string, by = 1): string => String((Number(code) + by) % 1_000_000).padStart(6, "0");

describe("codes", () => {
  it("are six digits with leading zeros, uniformly distributed", () => {
    const count = 20_000;
    const firsts = new Array<number>(10).fill(0);
    for (let i = 0; i < count; i += 1) {
      const code = randomCode();
      expect(code).to.match(/^\d{6}$/);
      firsts[Number(code[0])]! += 1;
    }
    // The standard deviation is 42, so six of them fail once in 50 million runs.
    for (const seen of firsts) expect(Math.abs(seen - count / 10)).to.be.lessThan(6 * 42.5);
  });
});

describe("a code's hash", () => {
  it("binds row, number, wallet and time, under one key", async () => {
    const database = await openDatabase<Schema>({ url: "sqlite::memory:", name: "codes", migrations: MIGRATIONS });
    const { db } = database;
    const keys = { master: [key("m1")], index: [key("i1")] };
    const ring = new KeyRing(keys);
    const owner = { id: "row", phone: PHONE, wallet: wallet(1) };
    const [code, end] = ["123456", NOW + 5 * MINUTE];
    const tries = async (change: { owner?: Partial<typeof owner>; row?: object; ring?: KeyRing }) => {
      await db.deleteFrom("phone_codes").execute();
      await storeCode(db, ring, owner, code, end);
      await db
        .updateTable("phone_codes")
        .set({ tries: 0, ...change.row })
        .execute();
      return (await tryCode(db, change.ring ?? ring, { ...owner, ...change.owner }, code, NOW)).kind;
    };
    expect(await tries({})).to.equal("right");
    expect(await tries({ owner: { id: "other" }, row: { mapping_id: "other" } })).to.equal("wrong");
    expect(await tries({ owner: { phone: "+14155550101" } })).to.equal("wrong");
    expect(await tries({ owner: { wallet: wallet(2) } })).to.equal("wrong");
    expect(await tries({ row: { expires_at: end + 1 } })).to.equal("wrong");
    expect(await tries({ row: { index_key: "i2" } })).to.equal("wrong");
    expect(await tries({ ring: new KeyRing({ ...keys, index: [key("i1")] }) })).to.equal("wrong");
    expect(await tries({ row: { tries: 5 } })).to.equal("exhausted");
    expect(await tries({ row: { expires_at: NOW } })).to.equal("expired");
    await database.close();
  });
});

overWorlds("codes", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  const link = (n: number, change = {}) => world.registry.link(world.request(PHONE, n, change));
  const verify = (n: number, code: string, client = "typed") =>
    world.registry.verify({ phone: PHONE, wallet: wallet(n), code, client });

  it("are compared at most five times, even concurrently", async () => {
    await link(1);
    const code = world.lastCode(PHONE);
    const second = await world.open();
    const guesses = Array.from({ length: 24 }, (_, i) =>
      refused(
        (i % 2 ? second : world.registry).verify({
          phone: PHONE,
          wallet: wallet(1),
          code: wrong(code, i + 1),
          client: `guesser ${i}`,
        }),
      ),
    );
    const codes = (await Promise.all(guesses)).map((error) => error.code);
    expect(codes.filter((one) => one === "CODE_WRONG")).to.have.length(5);
    expect(codes.filter((one) => one === "CODE_EXHAUSTED")).to.have.length(19);
    // After five wrong tries the right code is refused.
    expect(await refused(verify(1, code))).to.include({ code: "CODE_EXHAUSTED" });
    expect((await world.registry.resolve({ phone: PHONE, client: "payer" }))?.verified).to.equal(false);
  });

  it("report the remaining attempts, and are accepted at the last one", async () => {
    await link(1);
    const code = world.lastCode(PHONE);
    for (const triesLeft of [4, 3, 2, 1]) {
      const error = await refused(verify(1, wrong(code)));
      expect(error).to.include({ code: "CODE_WRONG" }).and.to.have.deep.property("details", { triesLeft });
    }
    expect((await verify(1, code)).mapping.verified).to.equal(true);
    expect(await refused(verify(1, code))).to.include({ code: "CODE_EXPIRED" });
  });

  it("are accepted once, even concurrently", async () => {
    await link(1);
    const code = world.lastCode(PHONE);
    const all = await Promise.allSettled(Array.from({ length: 6 }, () => verify(1, code)));
    expect(all.filter(({ status }) => status === "fulfilled")).to.have.length(1);
  });

  it("last five minutes", async () => {
    await link(1);
    const code = world.lastCode(PHONE);
    world.now += 5 * MINUTE;
    expect(await refused(verify(1, code))).to.include({ code: "CODE_EXPIRED" });
    await link(1, { issuedAt: slot(1) });
    world.now += 5 * MINUTE - 1;
    expect((await verify(1, world.lastCode(PHONE))).mapping.verified).to.equal(true);
  });

  it("are valid for one wallet; entering one for another wallet fails and consumes an attempt", async () => {
    // Another wallet requests a code, hoping that the number's owner enters it.
    await link(666);
    const theirs = world.lastCode(PHONE);
    await link(1);
    const own = world.lastCode(PHONE);
    if (theirs !== own) expect(await refused(verify(1, theirs))).to.include({ code: "CODE_WRONG" });
    expect(await refused(verify(2, own))).to.include({ code: "CODE_EXPIRED" });
    expect((await verify(1, own)).mapping.binding.wallet).to.equal(wallet(1));
  });

  it("that could not be sent are invalid, and the response says to retry", async () => {
    const logged: unknown[] = [];
    const log = { info: () => undefined, warn: (...line: unknown[]) => logged.push(line), error: () => undefined };
    const registry = await world.open({ log });
    world.senderFails = true;
    const { remaining } = await registry.link(world.request(PHONE, 1));
    expect(remaining).to.deep.equal([{ step: "ask-again" }]);
    expect(JSON.stringify(logged)).to.contain("could not be sent").and.not.to.contain("0100");
    expect(await refused(verify(1, "000000"))).to.include({ code: "CODE_EXPIRED" });
    world.senderFails = false;
    expect((await link(1)).remaining[0]?.step).to.equal("enter-code");
    expect((await verify(1, world.lastCode(PHONE))).mapping.verified).to.equal(true);
  });

  it("are stored before they are sent", async () => {
    let stored = 0;
    const raw = await world.raw();
    const send = async () => {
      stored = (await raw.db.selectFrom("phone_codes").selectAll().execute()).length;
    };
    const registry = await world.open({ sender: { send } });
    await registry.link(world.request(PHONE, 1));
    expect(stored).to.equal(1);
  });

  it("that fail to send after a newer one was stored do not invalidate it", async () => {
    let fail: () => void = () => undefined;
    const slow = new Promise<void>((_, reject) => {
      fail = () => reject(new Error("timed out"));
    });
    const registry = await world.open({ sender: { send: () => slow } });
    const first = registry.link(world.request(PHONE, 1));
    // Waits until the first code is stored, so that the second one is newer.
    const raw = await world.raw();
    while ((await raw.db.selectFrom("phone_codes").selectAll().execute()).length === 0);
    await link(1);
    fail();
    expect((await first).remaining).to.deep.equal([{ step: "ask-again" }]);
    expect((await verify(1, world.lastCode(PHONE))).mapping.verified).to.equal(true);
  });

  describe("are limited", () => {
    it("per number, for any client and wallet", async () => {
      for (const n of [1, 2, 3]) await link(n);
      const error = await refused(link(4));
      expect(error).to.include({ code: "CODES_LIMITED" });
      const resetAt = (Math.floor(NOW / (10 * MINUTE)) + 1) * 10 * MINUTE;
      expect(error.details).to.deep.equal({ scope: "number", resetAt });
      world.now = resetAt - 1;
      expect(await refused(link(4))).to.include({ code: "CODES_LIMITED" });
      expect(world.sent).to.have.length(3);
      world.now = resetAt;
      await link(4);
    });

    it("per wallet over its numbers, and per client over its wallets", async () => {
      const ask = (i: number, n: number, client: string) =>
        world.registry.link(world.request(`+1415555${1000 + i}`, n, { client }));
      for (let i = 0; i < 5; i += 1) await ask(i, 1, `client ${i}`);
      expect((await refused(ask(9, 1, "client 9"))).details).to.include({ scope: "wallet" });
      for (let i = 10; i < 20; i += 1) await ask(i, i, "one client");
      expect((await refused(ask(21, 21, "one client"))).details).to.include({ scope: "client" });
      await ask(22, 22, "another");
    });

    it("per client that submits them", async () => {
      const registry = await world.open({ limits: { tries: { client: [{ limit: 3, seconds: 60 }] } } });
      const attempt = (client: string) => registry.verify({ phone: PHONE, wallet: wallet(1), code: "123456", client });
      for (let i = 0; i < 3; i += 1) expect(await refused(attempt("x"))).to.include({ code: "CODE_EXPIRED" });
      expect(await refused(attempt("x"))).to.include({ code: "CODES_LIMITED" });
      expect(await refused(attempt("y"))).to.include({ code: "CODE_EXPIRED" });
    });

    it("exactly, even under concurrency", async () => {
      const second = await world.open();
      const asks = Array.from({ length: 12 }, (_, i) =>
        (i % 2 ? second : world.registry).link(world.request(PHONE, i + 1)),
      );
      const done = await Promise.allSettled(asks);
      expect(done.filter(({ status }) => status === "fulfilled")).to.have.length(3);
      expect(world.sent).to.have.length(3);
    });

    it("without counting refusals against others or storing anything", async () => {
      for (const n of [1, 2, 3]) await link(n);
      const raw = await world.raw();
      const count = async () =>
        (
          await sql<{
            rows: number;
          }>`select (select count(*) from phone_mappings) + (select count(*) from phone_codes)
            + (select sum(used) from phone_quotas) as rows`.execute(raw.db)
        ).rows[0]!.rows;
      const before = await count();
      for (let i = 0; i < 4; i += 1) expect(await refused(link(10 + i))).to.include({ code: "CODES_LIMITED" });
      expect(await count()).to.equal(before);
    });
  });
});
