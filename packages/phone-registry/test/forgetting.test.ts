// Deleted data is also removed from the database files, because the keys that could decrypt it still exist.
import { expect } from "chai";
import { fileBytes } from "./support/raw.ts";
import { overWorlds } from "./support/suite.ts";
import { key, shielded, type World } from "./support/world.ts";

const number = (n: number) => `+1415555010${n}`;

overWorlds("what is forgotten", ["SQLite"], (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  /** Parts of links' ciphertexts, too long to occur by chance. */
  const records = async (part: 0 | 1) => {
    const raw = await world.raw();
    const rows = await raw.db.selectFrom("phone_mappings").select("envelope").execute();
    return rows.map(({ envelope }) => envelope.split(".")[part]!.slice(0, 60));
  };
  const left = (all: readonly string[]) =>
    all.filter((record) => fileBytes(world.options.store).includes(record)).length;

  it("is gone from database and log immediately after erasure", async () => {
    await world.linked(number(0), 1);
    const erased = await records(1);
    expect(left(erased)).to.equal(1);
    await world.registry.erase({ phone: number(0), client: "operator" });
    expect(left(erased)).to.equal(0);
  });

  it("is gone after the next sweep if replaced, renewed or revoked", async () => {
    for (const n of [0, 1, 2]) await world.linked(number(n), n);
    const gone = await records(1);
    expect(left(gone)).to.equal(3);
    await world.linked(number(0), 5);
    await world.linked(number(1), 1, { key: shielded(9) });
    await world.registry.unlink(world.unlinkRequest(number(2), 2));
    await world.registry.sweep();
    expect(left(gone)).to.equal(0);
    expect(left(await records(1))).to.equal(2);
  });

  it("is gone after a rotation if an older master key wrapped it", async () => {
    await world.linked(number(0), 1);
    const wrapped = await records(0);
    expect(left(wrapped)).to.equal(1);
    const { keys } = world.options;
    const registry = await world.open({ keys: { ...keys, master: [key("m2"), ...keys.master] } });
    await registry.rotate();
    expect(left(wrapped)).to.equal(0);
  });
});
