import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import type { PhoneRegistry } from "../src/index.ts";
import { overWorlds } from "./support/suite.ts";
import { NOW, refused, shielded, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";

overWorlds("codes in total are limited", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  const limits = {
    codes: { number: [], linked: [], wallet: [], client: [], total: [{ limit: 5, seconds: 86_400 }] },
    linkedPercent: 0,
  };
  const resetAt = (Math.floor(NOW / 86_400_000) + 1) * 86_400_000;
  /** An attacker's request, with a new number, wallet and network address each time. */
  const ask = (registry: PhoneRegistry, n: number, phone = `+1415555${2000 + n}`) =>
    registry.link(world.request(phone, n, { client: `2001:db8:${n}::/64` }));

  it("for any client and number, on every replica and after a restart, until the end of the day", async () => {
    const [first, second] = [await world.open({ limits }), await world.open({ limits })];
    const asks = Array.from({ length: 12 }, (_, i) => ask(i % 2 ? first : second, i + 1));
    const done = await Promise.allSettled(asks);
    expect(done.filter(({ status }) => status === "fulfilled")).to.have.length(5);
    await first.close();
    const restarted = await world.open({ limits });
    world.now = resetAt - 1;
    for (const registry of [second, restarted]) {
      const error = await refused(ask(registry, 20));
      expect(error).to.include({ code: "CODES_LIMITED" });
      expect(error.details).to.deep.equal({ scope: "total", resetAt });
    }
    expect(world.sent).to.have.length(5);
    world.now = resetAt;
    await ask(restarted, 20, "+14155559999");
    expect(world.sent).to.have.length(6);
  });

  it("without revealing linked numbers or harming links and codes", async () => {
    const uses: [string, number][] = [];
    const metrics = { count: () => undefined, unknownShare: () => undefined };
    const quotaUse = (scope: string, used: number) => uses.push([scope, used]);
    const registry = await world.open({ limits, metrics: { ...metrics, quotaUse } });
    await world.registry.link(world.request(PHONE, 1));
    await world.registry.verify({ phone: PHONE, wallet: wallet(1), code: world.lastCode(PHONE), client: "typed" });
    for (let n = 2; n < 6; n += 1) await ask(registry, n);
    const strangers = [await refused(ask(registry, 30, PHONE)), await refused(ask(registry, 30, "+14155558888"))];
    const said = strangers.map(({ code, message, details }) => ({ code, message, details }));
    expect(said[0]).to.deep.equal(said[1]);
    expect(uses).to.deep.equal([0.4, 0.6, 0.8, 1, 1, 1].map((used) => ["codes", used]));
    // A verified wallet can renew, and a code that was sent can still be entered.
    const renewed = await registry.link(world.request(PHONE, 1, { key: shielded(9) }));
    expect(renewed.remaining).to.deep.equal([]);
    const phone = "+14155552005";
    await registry.verify({ phone, wallet: wallet(5), code: world.lastCode(phone), client: "typed" });
    expect((await registry.resolve({ phone, client: "payer" }))?.verified).to.equal(true);
  });
});
