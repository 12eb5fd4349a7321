import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import type { LinkResult, PhoneRegistry } from "../src/index.ts";
import { overWorlds } from "./support/suite.ts";
import { refused, shielded, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";
const TEN_MINUTES = 600_000;
const DAY = 86_400_000;
const OWNER = 1;

overWorlds("codes kept for the wallet that a number is linked to", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
    await world.linked(PHONE, OWNER);
    // The code of the first verification no longer counts towards the limit.
    world.now += DAY;
  });
  const slot = (offset = 0) => (Math.floor(world.now / 300_000) + offset) * 300;

  /** Requests codes with a new wallet and address each time, until the limit. @returns how many were sent */
  async function useUp(registry: PhoneRegistry, phone = PHONE): Promise<number> {
    for (let n = 0; ; n += 1) {
      const request = world.request(phone, 100 + n, { client: `stranger ${n}`, issuedAt: slot() });
      const limited = await registry.link(request).then(
        () => undefined,
        (error: Error & { code: string; details: { resetAt?: number } }) => error,
      );
      if (limited === undefined) continue;
      expect(limited.code).to.equal("CODES_LIMITED");
      // Returns at the limit per day, not at the limit per ten minutes.
      if ((limited.details.resetAt ?? 0) - world.now > TEN_MINUTES) return n;
      world.now += TEN_MINUTES;
    }
  }
  const ask = (registry: PhoneRegistry, n = OWNER, key = shielded(77)): Promise<LinkResult> =>
    registry.link(world.request(PHONE, n, { key, issuedAt: slot(1), client: `owner ${n}` }));
  const prove = (registry: PhoneRegistry, n = OWNER) =>
    registry.verify({ phone: PHONE, wallet: wallet(n), code: world.lastCode(PHONE), client: `owner ${n}` });

  it("let it renew its link even if other wallets exhausted the number's daily codes", async () => {
    await useUp(world.registry);
    // Because of their unverified links, the owner must enter a code too.
    expect((await ask(world.registry)).remaining[0]?.step).to.equal("enter-code");
    expect((await prove(world.registry)).mapping.binding).to.include({ wallet: wallet(OWNER), key: shielded(77) });
    // This helps no other wallet.
    const stranger = world.request(PHONE, 500, { client: "one more", issuedAt: slot(1) });
    expect((await refused(world.registry.link(stranger))).code).to.equal("CODES_LIMITED");
  });

  it("do not affect those of the number's new owner", async () => {
    const registry = await world.open();
    await registry.link(world.request(PHONE, 2, { issuedAt: slot() }));
    for (let n = 0; n < 3; n += 1) expect((await ask(registry, OWNER, shielded(80 + n))).remaining).to.have.length(1);
    const limited = await refused(ask(registry, OWNER, shielded(90)));
    expect(limited.message).to.equal(
      "limit exceeded: 3 codes for one number and the wallet it is linked to in 10 minutes",
    );
    expect((await ask(registry, 3)).remaining[0]?.step).to.equal("enter-code");
    await prove(registry, 3);
    expect((await registry.resolve({ phone: PHONE, client: "payer" }))?.binding.wallet).to.equal(wallet(3));
  });

  it("reveal nothing to other wallets: linked and unlinked numbers get the same number of codes", async () => {
    const start = world.now;
    const linked = await useUp(world.registry);
    const end = world.now;
    world.now = start;
    const other = "+14155559999";
    expect([await useUp(world.registry, other), world.now]).to.deep.equal([linked, end]);
    const said = [];
    for (const phone of [PHONE, other]) {
      const stranger = world.request(phone, 600, { client: "one more", issuedAt: slot() });
      const { code, message, details } = await refused(world.registry.link(stranger));
      said.push({ code, message, details });
    }
    expect(said[0]).to.deep.equal(said[1]);
  });

  it("have a reserved part of the daily total, which other wallets cannot exhaust", async () => {
    const codes = { number: [], linked: [], wallet: [], client: [], total: [{ limit: 10, seconds: 86_400 }] };
    const registry = await world.open({ limits: { codes, linkedPercent: 30 } });
    for (let n = 0; n < 6; n += 1) await registry.link(world.request(`+1415555${3000 + n}`, 10 + n));
    const stranger = world.request(PHONE, 2, { issuedAt: slot() });
    await registry.link(stranger);
    const limited = await refused(registry.link(world.request("+14155554000", 30)));
    expect(limited.code).to.equal("CODES_LIMITED");
    expect(limited.details).to.include({ scope: "total" });
    for (let n = 0; n < 3; n += 1) expect((await ask(registry, OWNER, shielded(40 + n))).remaining).to.have.length(1);
    expect((await refused(ask(registry, OWNER, shielded(50)))).message).to.equal(
      "limit exceeded: 10 codes in total in a day",
    );
  });
});
