import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { sql } from "kysely";
import type { Row } from "../src/store/schema.ts";
import type { RawDatabase } from "./support/raw.ts";
import { overWorlds } from "./support/suite.ts";
import { key, refused, slot, type World, wallet } from "./support/world.ts";

const [A, B] = ["+14155550100", "+14155550101"];

overWorlds("the ledger of all links", EVERY_DATABASE, (newWorld) => {
  let world: World;
  let raw: RawDatabase;
  beforeEach(async () => {
    world = await newWorld();
    raw = await world.raw();
  });

  const tables = ["phone_mappings", "phone_heads", "phone_ledger"] as const;
  type Copy = Record<(typeof tables)[number], Row<(typeof tables)[number]>[]>;
  const copy = async (): Promise<Copy> =>
    Object.fromEntries(
      await Promise.all(tables.map(async (table) => [table, await raw.db.selectFrom(table).selectAll().execute()])),
    );
  const putBack = async (state: Copy, ...only: readonly (typeof tables)[number][]) => {
    for (const table of only) {
      await raw.run(sql`delete from ${sql.table(table)}`);
      for (const row of state[table])
        await raw.db
          .insertInto(table)
          .values(row as never)
          .execute();
    }
  };
  const expectTampered = async () =>
    expect(await refused(world.registry.check())).to.include({ code: "RECORD_TAMPERED" });

  it("is consistent after every operation", async () => {
    expect(await world.registry.check()).to.deep.equal({ links: 0, changes: 0 });
    await world.linked(A, 1);
    await world.linked(B, 2);
    await world.linked(A, 3);
    await world.registry.link(world.request(B, 4));
    expect(await world.registry.check()).to.include({ links: 3 });
    await world.registry.unlink(world.unlinkRequest(A, 3));
    await world.registry.erase({ phone: B, client: "operator" });
    const { changes, links } = await world.registry.check();
    expect(links).to.equal(0);
    expect(changes).to.be.greaterThan(8);
    await world.linked(A, 1, { issuedAt: slot(1) });
    world.now += 500 * 86_400_000;
    await world.registry.sweep();
    expect(await world.registry.check()).to.include({ links: 0 });
  });

  it("is consistent while links and keys change", async () => {
    const { master, index } = world.options.keys;
    const keys = { master: [key("m2"), ...master], index: [key("i2"), ...index] };
    const limits = { codes: { number: [], linked: [], wallet: [], client: [], total: [] }, tries: { client: [] } };
    const registry = await world.open({ keys, limits });
    const change = async () => {
      for (let n = 0; n < 12; n += 1) {
        await registry.link(world.request(`+1415555${1000 + n}`, n));
        const proof = { phone: `+1415555${1000 + n}`, wallet: wallet(n), client: "typed" };
        await registry.verify({ ...proof, code: world.lastCode(proof.phone) });
      }
    };
    const look = async () => {
      for (let i = 0; i < 8; i += 1) await registry.check();
    };
    await world.linked(A, 1);
    await Promise.all([change(), look(), registry.rotate({ batch: 2 })]);
    expect(await registry.check()).to.include({ links: 13 });
    expect((await registry.rotate()).unused).to.include("master:m1");
    expect(await registry.check()).to.include({ links: 13 });
  });

  it("detects a link that was restored together with its head", async () => {
    await world.linked(A, 1);
    const before = await copy();
    await world.linked(A, 2, { issuedAt: slot(1) });
    await putBack(before, "phone_mappings", "phone_heads");
    expect((await world.registry.resolve({ phone: A, client: "payer" }))?.binding.wallet).to.equal(wallet(1));
    await expectTampered();
  });

  it("detects links that were removed, or restored after revocation", async () => {
    await world.linked(A, 1);
    await world.linked(B, 2);
    const before = await copy();
    await raw.run(sql`delete from phone_mappings`);
    await expectTampered();
    await raw.run(sql`delete from phone_heads`);
    await expectTampered();
    await putBack(before, "phone_mappings", "phone_heads");
    await world.registry.check();
    await world.registry.unlink(world.unlinkRequest(A, 1));
    await putBack(before, "phone_mappings", "phone_heads");
    await expectTampered();
  });

  it("detects a ledger that is missing, outdated or changed", async () => {
    await world.linked(A, 1);
    const before = await copy();
    await world.linked(B, 2);
    const now = await copy();
    for (const forged of [before.phone_ledger, [], [{ ...now.phone_ledger[0]!, envelope: "AAAA" }]]) {
      await putBack({ ...now, phone_ledger: forged }, "phone_ledger");
      await expectTampered();
    }
    // Without a ledger no link can be added, and opening the registry again does not create a ledger.
    await putBack({ ...now, phone_ledger: [] }, "phone_ledger");
    const again = await world.open();
    expect(await refused(again.link(world.request(A, 5)))).to.include({ code: "RECORD_TAMPERED" });
  });

  it("allows revocation and erasure without a ledger, and a new one by an operator", async () => {
    const forgeries = [sql`delete from phone_ledger`, sql`update phone_ledger set envelope = 'AAAA'`];
    for (const [n, forge] of forgeries.entries()) {
      const issuedAt = slot(n);
      await world.linked(A, 1, { issuedAt });
      await world.linked(B, 2, { issuedAt });
      await raw.run(forge);
      await world.registry.unlink(world.unlinkRequest(A, 1, issuedAt));
      // A link that does not match its head prevents accepting the others.
      await raw.run(sql`update phone_heads set seal = 'x'`);
      expect(await refused(world.registry.check({ accept: true }))).to.include({ code: "RECORD_TAMPERED" });
      expect(await world.registry.erase({ phone: B, client: "operator" })).to.include({ mappings: 1 });
      await expectTampered();
      expect(await world.registry.check({ accept: true })).to.deep.equal({ links: 0, changes: 1 });
      await world.linked(A, 3, { issuedAt });
      expect(await world.registry.check()).to.include({ links: 1 });
      await world.registry.erase({ phone: A, client: "operator" });
      world.now += 600_000;
    }
  });

  it("detects a rollback of the whole database only by the number of changes", async () => {
    await world.linked(A, 1);
    const before = await copy();
    await world.linked(A, 2, { issuedAt: slot(1) });
    const { changes } = await world.registry.check();
    await putBack(before, ...tables);
    expect((await world.registry.check()).changes).to.be.lessThan(changes);
  });

  it("runs every hour, alerts, and accepts a new baseline from an operator", async () => {
    const counts: string[] = [];
    const errors: unknown[] = [];
    const registry = await world.open({
      metrics: {
        count: (operation, outcome) => counts.push(`${operation} ${outcome}`),
        quotaUse: () => undefined,
        unknownShare: () => undefined,
      },
      log: { info: () => undefined, warn: () => undefined, error: (...line) => errors.push(line) },
    });
    await world.linked(A, 1);
    await world.linked(B, 2);
    await registry.sweep();
    await raw.run(sql`update phone_heads set seal = 'x'`);
    await registry.sweep();
    expect(counts).to.deep.equal(["sweep ok", "check ok", "sweep ok"]);
    world.now += 3_600_000;
    await registry.sweep();
    expect(counts.slice(3)).to.deep.equal(["sweep ok", "check RECORD_TAMPERED"]);
    expect(errors).to.have.length(1);
    // Links that cannot be decrypted must be erased first.
    expect(await refused(registry.check({ accept: true }))).to.include({ code: "RECORD_TAMPERED" });
    for (const phone of [A, B]) await registry.erase({ phone, client: "operator" });
    await raw.run(sql`delete from phone_heads`);
    expect(await registry.check({ accept: true })).to.include({ links: 0 });
    await world.linked(A, 1, { issuedAt: slot(1) });
    expect(await registry.check()).to.include({ links: 1 });
  });
});
