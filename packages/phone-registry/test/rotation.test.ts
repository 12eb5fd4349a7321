import { spawn } from "node:child_process";
import { join } from "node:path";
import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { sql } from "kysely";
import type { PhoneRegistry, RegistryKeys } from "../src/index.ts";
import { overWorlds } from "./support/suite.ts";
import { createWorld, key, refused, shielded, slot, type World, wallet } from "./support/world.ts";

const number = (n: number) => `+4479${String(n).padStart(8, "0")}`;
const generous = {
  codes: { number: [], linked: [], wallet: [], client: [], total: [] },
  tries: { client: [] },
  lookups: { client: [], caller: [], range: [], clientRange: [] },
};

overWorlds("rotation of keys", EVERY_DATABASE, (newWorld) => {
  let world: World;
  let older: RegistryKeys;
  /** First the new keys are in the ring but not current, then they are current. */
  let announced: RegistryKeys;
  let rotated: RegistryKeys;
  beforeEach(async () => {
    world = await newWorld({ limits: generous });
    older = world.options.keys;
    const [m2, i2] = [key("m2"), key("i2")];
    announced = { master: [...older.master, m2], index: [...older.index, i2] };
    rotated = { master: [m2, ...older.master], index: [i2, ...older.index] };
  });

  const linkAll = async (count: number) => {
    for (let n = 0; n < count; n += 1) await world.linked(number(n), n);
  };
  const expectAll = async (registry: PhoneRegistry, count: number) => {
    for (let n = 0; n < count; n += 1) {
      const mapping = await registry.resolve({ phone: number(n), client: "payer" });
      expect(mapping?.binding, number(n)).to.include({ wallet: wallet(n), phone: number(n) });
    }
  };

  it("re-encrypts all records; only then may the old keys be removed", async () => {
    await linkAll(12);
    await world.registry.link(world.request(number(50), 50));
    await world.linked(number(60), 60);
    await world.registry.unlink(world.unlinkRequest(number(60), 60));
    const nonce = { wallet: wallet(60), nonce: "n", deadline: world.now / 1000 + 60 };
    await world.registry.useNonce(nonce);
    const registry = await world.open({ keys: rotated });
    expect(await registry.rotation()).to.include({ master: 13, index: 13 });
    await expectAll(registry, 12);
    const newKeysOnly = { master: rotated.master.slice(0, 1), index: rotated.index.slice(0, 1) };
    const early = await refused(world.open({ keys: newKeysOnly }));
    expect(early).to.include({ code: "KEY_MISSING" }).and.to.have.deep.property("details", {
      keys: "master:m1, index:i1",
    });
    const state = await registry.rotate({ batch: 5 });
    expect(state).to.include({ master: 0, index: 0, refused: 0 });
    // Hashes of used structs cannot be converted, so the old index key must stay until they expire.
    expect(state.unused).to.deep.equal(["master:m1"]);
    expect(state.fading).to.be.greaterThan(11);
    for (const replay of [
      registry.link(world.request(number(3), 3)),
      registry.link(world.request(number(60), 60)),
      registry.unlink(world.unlinkRequest(number(60), 60)),
    ])
      expect(await refused(replay)).to.include({ code: "SIGNATURE_REPLAYED" });
    expect(await refused(registry.useNonce(nonce))).to.include({ code: "NONCE_REFUSED" });
    await expectAll(registry, 12);
    // The code that was sent before is still valid.
    await registry.verify({ phone: number(50), wallet: wallet(50), code: world.lastCode(number(50)), client: "x" });
    world.now += 27 * 3_600_000;
    await registry.sweep();
    expect((await registry.rotation()).unused).to.deep.equal(["master:m1", "index:i1"]);
    const after = await world.open({ keys: newKeysOnly });
    await expectAll(after, 12);
    expect((await after.resolve({ phone: number(50), client: "payer" }))?.verified).to.equal(true);
    // No value of the old keys remains.
    expect(await refused(world.open({ keys: older }))).to.include({ code: "KEY_MISSING" });
  });

  it("does not disturb linking and resolving, on replicas with either key order", async () => {
    await linkAll(30);
    // All dates below are in the past.
    world.now += 86_400_000;
    const lagging = await world.open({ keys: announced });
    const leading = await world.open({ keys: rotated });
    const both = [lagging, leading];
    let rotating = true;
    const rotation = (async () => {
      for (let i = 0; i < 3; i += 1) await leading.rotate({ batch: 4 });
      rotating = false;
    })();
    let looked = 0;
    const look = async (offset: number) => {
      while (rotating || looked < 60) {
        const n = (looked + offset) % 30;
        const mapping = await both[looked % 2]!.resolve({ phone: number(n), client: "payer" });
        expect(mapping?.binding.phone).to.equal(number(n));
        expect(mapping?.verified).to.equal(true);
        looked += 1;
      }
    };
    let linked = 0;
    const write = async () => {
      while (rotating || linked < 20) {
        const registry = both[linked % 2]!;
        const n = linked % 30;
        // Renewed links, links taken over by another wallet, and new links.
        await registry.link(world.request(number(n), n, { key: shielded(1_000 + linked), issuedAt: slot(1 + linked) }));
        const [phone, wanted] = linked % 3 === 0 ? [number(n), n + 500] : [number(100 + linked), n];
        const request = world.request(phone, wanted, { issuedAt: slot(2 + linked) });
        await registry.link(request);
        const proof = { phone, wallet: request.wallet, code: world.lastCode(phone), client: "typed" };
        await both[(linked + 1) % 2]!.verify(proof);
        if (linked % 3 === 0) {
          const back = world.request(number(n), n, { issuedAt: slot(3 + linked) });
          await registry.link(back);
          await registry.verify({ phone, wallet: back.wallet, code: world.lastCode(phone), client: "typed" });
        }
        linked += 1;
      }
    };
    await Promise.all([rotation, look(0), look(11), write()]);
    await lagging.close();
    expect(await leading.rotate()).to.include({ master: 0, index: 0, refused: 0 });
    await expectAll(leading, 30);
    const raw = await world.raw();
    const kept = await raw.db.selectFrom("phone_mappings").select("id").where("verified", "=", 1).execute();
    expect(kept).to.have.length(30 + [...Array(linked).keys()].filter((n) => n % 3 !== 0).length);
  });

  it("resumes after its process was killed, even repeatedly", async () => {
    const count = 20;
    await linkAll(count);
    await world.registry.close();
    const hex = (keys: RegistryKeys["master"]) =>
      keys.map((one) => ({ id: one.id, hex: Buffer.from(one.key).toString("hex") }));
    const keys = JSON.stringify({ master: hex(rotated.master), index: hex(rotated.index) });
    const script = join(import.meta.dirname, "support", "rotate-process.ts");
    // Killed in the second batch of four, then in the third: an incomplete batch is rolled back.
    for (const [records, left] of [
      [6, 16],
      [11, 8],
    ]) {
      const args = [script, world.options.store, keys, String(records)];
      const child = spawn(process.execPath, args, { stdio: "inherit" });
      const signal = await new Promise((resolve) => child.once("exit", (_, name) => resolve(name)));
      expect(signal).to.equal("SIGKILL");
      const registry = await world.open({ keys: rotated });
      expect(await registry.rotation()).to.include({ master: left, index: left });
      await expectAll(registry, count);
      await registry.close();
    }
    const registry = await world.open({ keys: rotated });
    expect(await registry.rotate()).to.include({ master: 0, index: 0, refused: 0 });
    await expectAll(registry, count);
  });

  it("skips a tampered record, and reports it", async () => {
    await linkAll(3);
    const raw = await world.raw();
    const victim = (await raw.db.selectFrom("phone_mappings").select("id").execute())[1]!;
    await raw.run(sql`update phone_mappings set envelope = 'A.A' where id = ${victim.id}`);
    const registry = await world.open({ keys: rotated });
    const state = await registry.rotate();
    expect(state).to.include({ refused: 1, master: 1, index: 1 });
    expect(state.unused).to.deep.equal([]);
  });

  it("rejects keys that do not match the database", async () => {
    const { master, index } = older;
    for (const keys of [
      { master: [key("m1")], index },
      { master, index: [key("i1")] },
    ])
      expect(await refused(world.open({ keys }))).to.include({ code: "KEY_MISMATCH" });
  });

  it("can be aborted and resumed", async () => {
    await linkAll(6);
    const registry = await world.open({ keys: rotated });
    expect(await registry.rotate({ signal: AbortSignal.abort() })).to.include({ master: 6 });
    expect(await registry.rotate({ batch: 2 })).to.include({ master: 0 });
  });
});

describe("keys", () => {
  it("are rejected if malformed", async () => {
    const good = { master: [key("m1")], index: [key("i1")] };
    const bad: unknown[] = [
      { ...good, master: [] },
      { ...good, index: undefined },
      { ...good, master: [1, 2, 3, 4, 5].map((n) => key(`m${n}`)) },
      { ...good, master: [{ id: "m1", key: new Uint8Array(32) }] },
      { ...good, master: [{ id: "m1", key: good.master[0]!.key.subarray(1) }] },
      { ...good, master: [{ id: "m1", key: "secret".repeat(6) }] },
      { ...good, master: [key("M1")] },
      { ...good, master: [key("")] },
      { ...good, master: [key("m1"), key("m1")] },
      { ...good, index: good.master },
    ];
    for (const keys of bad) {
      const error = await refused(createWorld("sqlite::memory:", { keys: keys as RegistryKeys }));
      expect(error).to.include({ code: "INVALID_KEYS" });
      expect(error.message).not.to.contain("secret");
    }
  });
});
