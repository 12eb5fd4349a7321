import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { pseudonym } from "../src/audit/audit.ts";
import { KeyRing } from "../src/crypto/key-ring.ts";
import { overWorlds } from "./support/suite.ts";
import { key, refused, shielded, slot, type World, wallet } from "./support/world.ts";

const [A, B] = ["+14155550100", "+14155550101"];
const DAY = 86_400_000;

overWorlds("audit log", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  const entries = async () => {
    const raw = await world.raw();
    const rows = await raw.db.selectFrom("phone_audit").selectAll().orderBy("at").orderBy("action").execute();
    return rows;
  };

  it("records actor, action, time and outcome, under pseudonyms that only the keys can resolve", async () => {
    const tick = () => {
      world.now += 1;
    };
    const typed = { phone: A, wallet: wallet(1), client: "198.51.100.7" };
    await world.registry.link(world.request(A, 1));
    const code = world.lastCode(A);
    tick();
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, "0");
    await refused(world.registry.verify({ ...typed, code: wrong }));
    tick();
    await world.registry.verify({ ...typed, code });
    tick();
    await world.registry.link(world.request(A, 1, { key: shielded(9) }));
    tick();
    await refused(world.registry.unlink(world.unlinkRequest(A, 2)));
    tick();
    await world.registry.unlink(world.unlinkRequest(A, 1, slot(1)));
    tick();
    await world.registry.erase({ phone: B, client: "operator" });
    tick();
    await world.registry.rotate();
    const rows = await entries();
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).to.deep.equal([
      ...["link ok", "verify CODE_WRONG", "verify ok", "relink ok", "unlink NOT_LINKED", "unlink ok"],
      ...["erase ok", "rotate ok"],
    ]);
    expect(rows.map(({ at }) => at - rows[0]!.at)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    // Each number has its own pseudonym, which is used in the log only.
    const numbers = rows.map(({ number }) => number);
    expect(new Set(numbers.slice(0, 6)).size).to.equal(1);
    expect(new Set(numbers).size).to.equal(3);
    const ring = new KeyRing(world.options.keys);
    expect(numbers.slice(5)).to.deep.equal([pseudonym(ring, "number", A), pseudonym(ring, "number", B), null]);
    expect(rows[1]).to.include({
      wallet: pseudonym(ring, "wallet", wallet(1)),
      client: pseudonym(ring, "client", "198.51.100.7"),
    });
    const others = new KeyRing({ master: [key("m1")], index: [key("i1")] });
    expect(pseudonym(others, "number", A)).not.to.equal(numbers[0]);
  });

  it("contains no lookups, and no attempts on unlinked numbers", async () => {
    await world.linked(A, 1);
    const before = await entries();
    for (const phone of [A, B]) await world.registry.resolve({ phone, client: "payer", caller: wallet(3) });
    const stranger = { phone: B, wallet: wallet(3), code: "123456", client: "stranger" };
    expect(await refused(world.registry.verify(stranger))).to.include({ code: "CODE_EXPIRED" });
    expect(await entries()).to.deep.equal(before);
  });

  it("uses pseudonyms that appear in no other column, so that they do not lead to a link", async () => {
    await world.linked(A, 1);
    const raw = await world.raw();
    const dump = await raw.dump();
    const number = (await entries())[0]?.number ?? "";
    expect(number).to.have.length(22);
    const same = dump.filter(({ text }) => text.startsWith(number));
    expect(new Set(same.map(({ table, column }) => `${table}.${column}`))).to.deep.equal(
      new Set(["phone_audit.number"]),
    );
  });

  it("drops pseudonyms under a removed index key, so that its holder cannot try numbers", async () => {
    await world.linked(A, 1);
    const { keys } = world.options;
    const i2 = key("i2");
    const both = await world.open({ keys: { ...keys, index: [i2, ...keys.index] } });
    await both.rotate();
    world.now += 1;
    await both.erase({ phone: B, client: "operator" });
    world.now += 2 * DAY;
    await both.sweep();
    const named = async () =>
      (await entries()).filter(({ number }) => number !== null).map(({ index_key }) => index_key);
    expect(await named()).to.deep.equal(["i1", "i1", "i2"]);
    const after = await world.open({ keys: { ...keys, index: [i2] } });
    await after.sweep();
    expect(await named()).to.deep.equal(["i2"]);
    const old = (await entries()).filter(({ index_key }) => index_key === "i1");
    expect(old.map(({ action, outcome, wallet: by, client }) => ({ action, outcome, by, client }))).to.deep.equal([
      { action: "link", outcome: "ok", by: null, client: null },
      { action: "verify", outcome: "ok", by: null, client: null },
    ]);
  });

  it("is kept for 90 days", async () => {
    await world.linked(A, 1);
    world.now += 90 * DAY;
    await world.registry.sweep();
    expect(await entries()).to.have.length(2);
    world.now += 61_000;
    await world.registry.sweep();
    expect(await entries()).to.deep.equal([]);
  });
});
