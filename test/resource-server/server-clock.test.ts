// A server whose clock is wrong asks for no payment that it would refuse.
import { slow } from "@sotto/test-kit/slow";
import { type MerchantWorld, openMerchantWorld, pay } from "@sotto/test-world/paywall/world";
import { expect } from "chai";
import { ask, CorePaywalls, told } from "./support/core.ts";

const MINUTE_MS = 60_000;

describe("a paywall whose server's clock is wrong", function () {
  slow(this, "a chain, a service and proofs");
  let world: MerchantWorld;
  let core: CorePaywalls;
  let off = 0;
  const clock = () => Date.now() + off;
  before(async () => {
    world = await openMerchantWorld();
    core = new CorePaywalls(world);
  });
  beforeEach(() => {
    off = 0;
  });
  afterEach(() => core.closeAll());
  const reason = () => core.events.findLast(({ event }) => event !== "opened")?.reason;

  for (const minutes of [6, -6])
    it(`is not ready ${minutes} minutes off, and opens once the clock is right`, async () => {
      off = minutes * MINUTE_MS;
      const paywall = await core.open({ clock });
      expect(core.events.map(({ event, reason }) => [event, reason])).to.deep.equal([
        ["opening", "PAYWALL_CLOCK_WRONG"],
      ]);
      const decision = await ask(paywall);
      expect([told(decision), reason()]).to.deep.equal(["503 later", "PAYWALL_CLOCK_WRONG"]);
      expect(told(await ask(paywall, [], "/health"))).to.equal("free");
      off = 0;
      expect(told(await ask(paywall))).to.equal("402");
      await paywall.ready;
    });

  for (const days of [401, -401])
    it(`is not ready ${days} days off, although no month of its addresses has such a time`, async () => {
      off = days * 1_440 * MINUTE_MS;
      const paywall = await core.open({ clock });
      expect(core.events.at(-1)).to.include({ event: "opening", reason: "PAYWALL_CLOCK_WRONG" });
      expect(told(await ask(paywall))).to.equal("503 later");
      off = 0;
      await paywall.ready;
      expect(told(await ask(paywall))).to.equal("402");
    });

  for (const seconds of [30, -25])
    it(`is ready ${seconds} s off`, async () => {
      off = seconds * 1000;
      const paywall = await core.open({ clock });
      await paywall.ready;
      expect(told(await ask(paywall))).to.equal("402");
      expect(told(await core.show(paywall, await pay(world)))).to.equal("paid");
    });

  for (const minutes of [6, -6])
    it(`does not refuse a payment for good if its clock is set ${minutes} minutes off meanwhile`, async () => {
      const paywall = await core.open({ clock });
      const payment = await pay(world);
      off = minutes * MINUTE_MS;
      expect(told(await ask(paywall))).to.equal("503 later");
      expect([told(await core.show(paywall, payment)), reason()]).to.deep.equal(["402 later", "PAYWALL_CLOCK_WRONG"]);
      off = 0;
      expect(told(await core.show(paywall, payment))).to.equal("paid");
    });
});
