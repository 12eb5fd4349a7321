import { networksOf } from "@sotto/protocol";
import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { DEFAULT_LIMITS, type LiveLimits, type RegistryLimits } from "../src/index.ts";
import { fileBytes } from "./support/raw.ts";
import { overWorlds } from "./support/suite.ts";
import { key, NOW, refused, slot, type World, wallet } from "./support/world.ts";

const KNOWN = "+14155550100";
const MINUTE = 60_000;
const DAY = 86_400_000;
const none = { client: [], caller: [], range: [], clientRange: [] };
const lookups = (change: Partial<RegistryLimits["lookups"]>) => ({ lookups: { ...none, ...change } });
const number = (n: number) => `+1415555${String(n).padStart(4, "0")}`;

overWorlds("lookups", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  it("cost the same queries, hashes and decryptions for known and unknown numbers", async () => {
    const work: string[] = [];
    const old = world.options.keys;
    await world.linked(KNOWN, 1);
    await world.linked(number(2), 2);
    await world.registry.link(world.request(number(3), 3));
    await world.linked(number(4), 4);
    await world.registry.link(world.request(number(4), 5));
    // The same during a rotation: two keys of each kind, and records under the older ones.
    const keys = { master: [key("m2"), ...old.master], index: [key("i2"), ...old.index] };
    for (const unverified of ["show", "hide"] as const) {
      const registry = await world.open({ keys, unverified, onWork: (kind) => work.push(kind) });
      await registry.link(world.request(number(6 + (unverified === "show" ? 1 : 0)), 6));
      const cost = async (phone: string, caller?: string) => {
        work.length = 0;
        const request = { phone, client: "payer", caller: caller === undefined ? undefined : wallet(9) };
        const mapping = await registry.resolve(request);
        return { mapping, work: work.join(" ") };
      };
      const known = await cost(KNOWN);
      expect(known.mapping?.verified).to.equal(true);
      expect(known.work.split(" ").filter((kind) => kind === "decrypt")).to.have.length(2);
      expect(known.work.split(" ").filter((kind) => kind === "query").length).to.be.greaterThan(4);
      for (const phone of [number(2), number(3), number(4), number(6), number(7), number(99), "+442079460000"])
        expect((await cost(phone)).work, phone).to.equal(known.work);
      const signedIn = await cost(KNOWN, "yes");
      expect((await cost(number(99), "yes")).work).to.equal(signedIn.work);
      // Expired links too.
      world.now = (slot() + 400 * 86_400) * 1000;
      const expired = await cost(KNOWN);
      world.now = NOW;
      expect(expired).to.deep.equal({ mapping: undefined, work: known.work });
    }
  });

  it("get new limits while the registry is open, in the same ranges", async () => {
    const range = [{ limit: 1, seconds: 86_400 }];
    const limits = { ...DEFAULT_LIMITS, ...lookups({ range }), rangeDigits: 1 };
    const registry = await world.open({ limits });
    const look = (n: number) => registry.resolve({ phone: number(n), client: `payer ${n}` });
    await look(10);
    expect((await refused(look(11))).details).to.include({ scope: "range" });
    // With ranges of six digits, number 20 would be in the range of the others.
    const raised: LiveLimits = { ...limits, ...lookups({ range: [{ limit: 2, seconds: 86_400 }] }) };
    registry.configure(Object.assign(raised, { rangeDigits: 6 }));
    await look(11);
    expect((await refused(look(12))).details).to.include({ scope: "range" });
    await look(20);
    await look(21);
    expect((await refused(look(22))).details).to.include({ scope: "range" });
  });

  it("are limited per client, in windows, across replicas", async () => {
    const limits = lookups({
      client: [
        { limit: 3, seconds: 60 },
        { limit: 5, seconds: 86_400 },
      ],
    });
    const [first, second] = [await world.open({ limits }), await world.open({ limits })];
    const look = (n: number, client = "x") => (n % 2 ? first : second).resolve({ phone: number(n), client });
    for (let n = 0; n < 3; n += 1) await look(n);
    const error = await refused(look(3));
    expect(error).to.include({ code: "LOOKUPS_LIMITED" });
    const resetAt = (Math.floor(NOW / MINUTE) + 1) * MINUTE;
    expect(error.details).to.deep.equal({ scope: "client", resetAt });
    await look(3, "y");
    world.now = resetAt;
    await look(4);
    await look(5);
    expect((await refused(look(6))).details).to.deep.equal({
      scope: "client",
      resetAt: (Math.floor(NOW / DAY) + 1) * DAY,
    });
  });

  it("count per IPv6 network: a /48 has at most four times the limit of a /64", async () => {
    const registry = await world.open({ limits: lookups({ client: [{ limit: 2, seconds: 86_400 }] }) });
    let asked = 0;
    const look = (n: number) => {
      const address = `2001:db8:7:${n.toString(16)}::1`;
      asked += 1;
      return registry.resolve({ phone: number(asked), client: networksOf(address).join(",") });
    };
    // A /56 has twice the limit of a /64: 4 lookups from four /64.
    for (const n of [0x100, 0x101, 0x102, 0x103]) await look(n);
    expect((await refused(look(0x104))).details).to.include({ scope: "client" });
    // A /48 has four times the limit of a /64: 8 lookups in total, from several /56.
    for (const n of [0x200, 0x300, 0x400, 0x500]) await look(n);
    expect((await refused(look(0x600))).details).to.include({ scope: "client" });
    await registry.resolve({ phone: number(99), client: networksOf("2001:db8:8::1").join(",") });
  });

  it("by one client in a range are limited, to prevent enumeration", async () => {
    const registry = await world.open({ limits: lookups({ clientRange: [{ limit: 4, seconds: 86_400 }] }) });
    for (let n = 0; n < 4; n += 1) await registry.resolve({ phone: number(n), client: "x" });
    const error = await refused(registry.resolve({ phone: number(9_999), client: "x" }));
    expect(error.details).to.include({ scope: "clientRange" });
    // A different range, length or client is not limited.
    for (const [phone, client] of [
      ["+14155560000", "x"],
      ["+141555500000", "x"],
      [number(5), "y"],
    ] as const)
      await registry.resolve({ phone, client });
  });

  it("of unknown numbers in a range are limited in total; known ones are not", async () => {
    await world.linked(KNOWN, 1);
    const registry = await world.open({ limits: lookups({ range: [{ limit: 3, seconds: 86_400 }] }) });
    for (let n = 0; n < 10; n += 1) await registry.resolve({ phone: KNOWN, client: `payer ${n}` });
    for (let n = 0; n < 3; n += 1) await registry.resolve({ phone: number(n), client: `enumerator ${n}` });
    const error = await refused(registry.resolve({ phone: number(4), client: "enumerator 4" }));
    expect(error.details).to.include({ scope: "range" });
  });

  it("of a linked number keep working for its payers even if other clients exhaust the quotas", async () => {
    await world.linked(KNOWN, 1);
    const one = [{ limit: 3, seconds: 86_400 }];
    const limits = lookups({ client: one, clientRange: one, caller: one, range: [{ limit: 6, seconds: 86_400 }] });
    const registry = await world.open({ limits });
    const pay = async (caller?: string) => {
      const request = { phone: KNOWN, client: "payer", caller: caller === undefined ? undefined : wallet(9) };
      for (let n = 0; n < 20; n += 1) expect((await registry.resolve(request))?.binding.wallet).to.equal(wallet(1));
    };
    await pay();
    await pay("yes");
    for (let n = 0; n < 6; n += 1) await registry.resolve({ phone: number(n), client: `stranger ${n}` });
    await pay();
    // Lookups of known numbers did not consume the payer's quotas.
    world.now += DAY;
    for (let n = 0; n < 6; n += 1) await registry.resolve({ phone: number(n), client: `stranger ${n}` });
    await pay();
    await pay("yes");
    // After two days without a lookup the number is new again, and refused like any other.
    world.now += 2 * DAY;
    for (let n = 0; n < 6; n += 1) await registry.resolve({ phone: number(n), client: `stranger ${n}` });
    expect((await refused(registry.resolve({ phone: KNOWN, client: "payer" }))).code).to.equal("LOOKUPS_LIMITED");
  });

  it("are refused alike for known and unknown numbers", async () => {
    await world.linked(KNOWN, 1);
    await world.registry.link(world.request(number(2), 2));
    const limits = [
      lookups({ clientRange: [{ limit: 2, seconds: 60 }] }),
      lookups({ range: [{ limit: 2, seconds: 60 }] }),
    ];
    for (const [index, limit] of limits.entries()) {
      const registry = await world.open({ limits: limit });
      const client = `enumerator ${index}`;
      for (const n of [7, 8]) await registry.resolve({ phone: number(n), client });
      const told = [];
      for (const phone of [KNOWN, number(2), number(9)]) {
        const { code, message, details } = await refused(registry.resolve({ phone, client }));
        told.push({ code, message, details });
      }
      expect(told).to.deep.equal([told[0], told[0], told[0]]);
      expect(told[0]).to.include({ code: "LOOKUPS_LIMITED" });
      // A refused lookup is not recorded, so the numbers are still new the next time.
      world.now += MINUTE;
      expect(await registry.resolve({ phone: KNOWN, client })).to.not.equal(undefined);
      for (const n of [10, 11]) await registry.resolve({ phone: number(n), client });
      expect((await refused(registry.resolve({ phone: number(2), client }))).code).to.equal("LOOKUPS_LIMITED");
    }
  });

  it("count an unknown number once a day per client, even concurrently", async () => {
    const registry = await world.open({ limits: lookups({ client: [{ limit: 2, seconds: 86_400 }] }) });
    const ask = (n: number) => registry.resolve({ phone: number(n), client: "x" });
    await Promise.all(Array.from({ length: 8 }, () => ask(1)));
    await ask(2);
    for (let n = 0; n < 8; n += 1) await ask(1);
    expect((await refused(ask(3))).message).to.equal(
      "limit exceeded: 2 unknown numbers for one network address in a day",
    );
    // Unknown numbers are new again the next day.
    world.now += DAY;
    await ask(3);
    await ask(1);
    expect((await refused(ask(2))).details).to.include({ scope: "client" });
  });

  it("of a signing wallet are limited across addresses", async () => {
    const registry = await world.open({ limits: lookups({ caller: [{ limit: 2, seconds: 60 }] }) });
    const look = (n: number, caller: number) =>
      registry.resolve({ phone: number(n), client: `address ${n}`, caller: wallet(caller) });
    await look(1, 1);
    await look(2, 1);
    expect((await refused(look(3, 1))).details).to.include({ scope: "caller" });
    await look(3, 2);
  });

  it("are counted exactly under concurrency", async () => {
    const limits = lookups({ client: [{ limit: 10, seconds: 60 }], clientRange: [{ limit: 20, seconds: 60 }] });
    const [first, second] = [await world.open({ limits }), await world.open({ limits })];
    const all = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => (n % 2 ? first : second).resolve({ phone: number(n), client: "x" })),
    );
    expect(all.filter(({ status }) => status === "fulfilled")).to.have.length(10);
  });

  it("report outcomes, remaining limits and unknown numbers in metrics", async () => {
    const counts: string[] = [];
    const uses: [string, number][] = [];
    const shares: [number, number][] = [];
    const registry = await world.open({
      limits: lookups({ client: [{ limit: 4, seconds: 60 }] }),
      metrics: {
        count: (operation, outcome) => counts.push(`${operation} ${outcome}`),
        quotaUse: (scope, used) => uses.push([scope, used]),
        unknownShare: (share, count) => shares.push([share, count]),
      },
    });
    await world.linked(KNOWN, 1);
    await world.registry.link(world.request(number(1), 2));
    for (const phone of [KNOWN, number(1), number(2), number(3), number(4)])
      await registry.resolve({ phone, client: "x" });
    await registry.resolve({ phone: number(1), client: "x" });
    await refused(registry.resolve({ phone: number(5), client: "x" }));
    await refused(registry.resolve({ phone: "0", client: "x" }));
    expect(counts).to.deep.equal([
      ...["ok", "unverified", "unknown", "unknown", "unknown", "unverified", "LOOKUPS_LIMITED", "INVALID_REQUEST"].map(
        (outcome) => `resolve ${outcome}`,
      ),
    ]);
    expect(uses).to.deep.equal([0.25, 0.25, 0.5, 0.75, 1].map((used) => ["client", used]));
    expect(shares.at(-1)).to.deep.equal([0.5, 6]);
  });
});

overWorlds("the disk of lookups", ["SQLite"], (newWorld) => {
  it("write the same number of bytes for known and unknown numbers", async () => {
    const world = await newWorld();
    await world.linked(KNOWN, 1);
    await world.registry.link(world.request(number(3), 3));
    /** Bytes that one lookup adds to the log of writes. */
    const written = async (phone: string) => {
      const before = fileBytes(world.options.store).length;
      await world.registry.resolve({ phone, client: "payer" });
      return fileBytes(world.options.store).length - before;
    };
    // The first lookups create the counters.
    await written(number(98));
    await written(number(98));
    const numbers = [number(99), KNOWN, number(3)];
    const first: number[] = [];
    for (const phone of numbers) first.push(await written(phone));
    const again: number[] = [];
    for (const phone of numbers) again.push(await written(phone));
    for (const [unknown = 0, ...others] of [first, again]) {
      expect(unknown).to.be.above(0);
      expect(others).to.deep.equal([unknown, unknown]);
    }
  });
});
