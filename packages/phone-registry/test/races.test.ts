import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { overWorlds } from "./support/suite.ts";
import { shielded, slot, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";
const generous = { codes: { number: [], linked: [], wallet: [], client: [], total: [] }, tries: { client: [] } };

overWorlds("races", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld({ limits: generous });
  });

  const codeOf = (n: number) => world.sent.findLast((message) => message.wallet === wallet(n))!.code;
  const rows = async () => {
    const raw = await world.raw();
    const found = await raw.db.selectFrom("phone_mappings").select(["verified", "slot"]).execute();
    const heads = await raw.db.selectFrom("phone_heads").selectAll().execute();
    expect(heads).to.have.length(found.length);
    return found;
  };

  it("between links verified concurrently end with exactly one link, which is the one reported", async () => {
    const second = await world.open();
    const many = [1, 2, 3, 4, 5, 6];
    for (const n of many) await world.registry.link(world.request(PHONE, n, { issuedAt: slot(n % 3) }));
    const done = await Promise.allSettled(
      many.map((n) =>
        (n % 2 ? second : world.registry).verify({
          phone: PHONE,
          wallet: wallet(n),
          code: codeOf(n),
          client: "typed",
        }),
      ),
    );
    const winners = many.filter((_, i) => done[i]!.status === "fulfilled");
    const final = await world.registry.resolve({ phone: PHONE, client: "payer" });
    // The last winner has the latest date: 2 and 5 signed last.
    expect(final).to.include({ verified: true });
    expect([wallet(2), wallet(5)]).to.include(final?.binding.wallet);
    expect(winners).to.include.members([2, 5]);
    // Each reported change starts from the link of the change before.
    const changes = done.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const froms = changes.flatMap(({ changed }) => (changed?.wallet === undefined ? [] : [changed.wallet.from]));
    expect(new Set(froms).size).to.equal(froms.length);
    expect(changes.length - froms.length).to.equal(1);
    expect((await rows()).filter(({ verified }) => verified === 1)).to.have.length(1);
  });

  it("between requests for one link leave one link and one code", async () => {
    const second = await world.open();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? second : world.registry).link(world.request(PHONE, 1))),
    );
    expect(results.every(({ remaining }) => remaining[0]?.step === "enter-code")).to.equal(true);
    expect(await rows()).to.have.length(1);
    const right = await Promise.allSettled(
      [...new Set(world.sent.map(({ code }) => code))].map((code) =>
        world.registry.verify({ phone: PHONE, wallet: wallet(1), code, client: "typed" }),
      ),
    );
    // Only the code that was stored last is valid. Eight wrong ones may exhaust its five tries first.
    expect(right.filter(({ status }) => status === "fulfilled").length).to.be.at.most(1);
  });

  it("between renewals by the current wallet end with the one signed last", async () => {
    await world.linked(PHONE, 1);
    world.now += 5 * 300_000;
    const second = await world.open();
    const done = await Promise.allSettled(
      [5, 3, 1, 4, 2].map((n) =>
        (n % 2 ? second : world.registry).link(world.request(PHONE, 1, { key: shielded(n), issuedAt: slot(n) })),
      ),
    );
    const final = await world.registry.resolve({ phone: PHONE, client: "payer" });
    expect(final?.binding).to.include({ issuedAt: slot(5), key: shielded(5) });
    for (const one of done) if (one.status === "rejected") expect(one.reason).to.include({ code: "LINK_OUTDATED" });
    expect(await rows()).to.have.length(1);
  });

  it("between verification, revocation and erasure never leave a partial link", async () => {
    for (let round = 0; round < 6; round += 1) {
      const at = slot(round);
      await world.registry.link(world.request(PHONE, 1, { issuedAt: at }));
      await Promise.allSettled([
        world.registry.verify({ phone: PHONE, wallet: wallet(1), code: codeOf(1), client: "typed" }),
        world.registry.unlink(world.unlinkRequest(PHONE, 1, at)),
        world.registry.erase({ phone: PHONE, client: "operator" }),
        world.registry.resolve({ phone: PHONE, client: "payer" }),
        world.registry.sweep(),
      ]);
      const left = await rows();
      const seen = await world.registry.resolve({ phone: PHONE, client: "payer" });
      expect(left.length).to.equal(seen === undefined ? 0 : 1);
    }
  });
});
