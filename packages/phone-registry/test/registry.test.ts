import { EVERY_DATABASE } from "@sotto/test-kit/databases";
import { expect } from "chai";
import { overWorlds } from "./support/suite.ts";
import { NOW, refused, shielded, slot, type World, wallet } from "./support/world.ts";

const PHONE = "+14155550100";
const MINUTE = 60_000;
const DAY = 86_400_000;

overWorlds("phone registry", EVERY_DATABASE, (newWorld) => {
  let world: World;
  beforeEach(async () => {
    world = await newWorld();
  });

  const resolved = (phone = PHONE) => world.registry.resolve({ phone, client: "payer" });
  const link = (n: number, change = {}) => world.registry.link(world.request(PHONE, n, change));
  const verify = (n: number, code = world.lastCode(PHONE)) =>
    world.registry.verify({ phone: PHONE, wallet: wallet(n), code, client: "typed" });

  describe("linking", () => {
    it("activates a number after its code, and returns everything that the wallet signed", async () => {
      expect(await resolved()).to.equal(undefined);
      const { mapping, remaining, changed } = await link(1);
      expect(changed).to.equal(undefined);
      expect(remaining).to.deep.equal([{ step: "enter-code", expiresAt: NOW + 5 * MINUTE, tries: 5 }]);
      expect(mapping.verified).to.equal(false);
      expect((await resolved())?.verified).to.equal(false);
      const done = await verify(1);
      expect(done.changed).to.equal(undefined);
      expect(await resolved()).to.deep.equal({
        binding: {
          phone: PHONE,
          wallet: wallet(1),
          key: shielded(1),
          chainId: 31337n,
          pool: world.options.pool,
          service: world.options.service,
          issuedAt: slot(),
        },
        signature: world.request(PHONE, 1).signature,
        verified: true,
        expiresAt: slot() + 400 * 86_400,
      });
      expect(done.mapping).to.deep.equal(await resolved());
      expect(world.sent).to.have.length(1);
      expect(world.sent[0])
        .to.include({ wallet: wallet(1), phone: PHONE })
        .and.to.have.property("code")
        .match(/^\d{6}$/);
    });

    it("hides an unverified number if configured", async () => {
      await link(1);
      const strict = await world.open({ unverified: "hide" });
      expect(await strict.resolve({ phone: PHONE, client: "payer" })).to.equal(undefined);
      await verify(1);
      expect((await strict.resolve({ phone: PHONE, client: "payer" }))?.verified).to.equal(true);
    });

    it("accepts a struct once: idempotent before verification, rejected afterwards", async () => {
      await link(1);
      const first = world.lastCode(PHONE);
      await link(1);
      expect(world.sent).to.have.length(2);
      // Only the newer code is valid. The two codes are equal once in a million runs.
      if (world.lastCode(PHONE) !== first) expect(await refused(verify(1, first))).to.include({ code: "CODE_WRONG" });
      await verify(1);
      expect(await refused(link(1))).to.include({ code: "SIGNATURE_REPLAYED" });
      // Another signature of the same struct is a replay too, and so is the same struct after an unlink.
      expect(await refused(link(1, { signature: "0xabcd" }))).to.include({ code: "SIGNATURE_REPLAYED" });
      await world.registry.unlink(world.unlinkRequest(PHONE, 1));
      expect(await refused(link(1))).to.include({ code: "SIGNATURE_REPLAYED" });
      expect(await resolved()).to.equal(undefined);
    });

    it("requires a new code for another wallet, and reports the change only to its owner", async () => {
      await world.linked(PHONE, 1);
      const { remaining, changed, mapping } = await link(2);
      expect({ steps: remaining.length, changed, verified: mapping.verified }).to.deep.equal({
        steps: 1,
        changed: undefined,
        verified: false,
      });
      // Unverified links never replace the verified one.
      expect((await resolved())?.binding.wallet).to.equal(wallet(1));
      const done = await verify(2);
      expect(done.changed).to.deep.equal({
        wallet: { from: wallet(1), to: wallet(2) },
        key: { from: shielded(1), to: shielded(2) },
      });
      expect((await resolved())?.binding.wallet).to.equal(wallet(2));
    });

    it("accepts a new key of the verified wallet immediately", async () => {
      await world.linked(PHONE, 1);
      world.now += 300_000;
      const { remaining, changed, mapping } = await link(1, { key: shielded(9), issuedAt: slot(1) });
      expect(remaining).to.deep.equal([]);
      expect(changed).to.deep.equal({ key: { from: shielded(1), to: shielded(9) } });
      expect(mapping).to.deep.equal(await resolved());
      expect(world.sent).to.have.length(1);
    });

    it("rejects a link signed before the current one; with equal dates the later verification counts", async () => {
      await world.linked(PHONE, 1);
      expect(await refused(link(1, { key: shielded(9), issuedAt: slot(-1) }))).to.include({ code: "LINK_OUTDATED" });
      await link(2, { issuedAt: slot(-1) });
      expect(await refused(verify(2))).to.include({ code: "LINK_OUTDATED" });
      expect((await resolved())?.binding.wallet).to.equal(wallet(1));
      await world.linked(PHONE, 3);
      expect((await resolved())?.binding.wallet).to.equal(wallet(3));
    });

    it("does not let a renewal prevent verification by another wallet", async () => {
      await world.linked(PHONE, 1);
      // With a date in the future.
      expect((await link(1, { issuedAt: slot(1) })).remaining).to.have.length(1);
      await world.registry.unlink(world.unlinkRequest(PHONE, 1, slot(1)));
      world.now += 300_000;
      await world.linked(PHONE, 1, { issuedAt: slot(1), key: shielded(7) });
      // While the new owner's link waits for its code, the former owner must enter a code too, which the new owner receives.
      world.now += 300_000;
      await link(2, { issuedAt: slot(2) });
      const code = world.lastCode(PHONE);
      world.now += 200_000;
      expect((await link(1, { issuedAt: slot(2), key: shielded(8) })).remaining).to.have.length(1);
      expect((await verify(2, code)).changed?.wallet).to.deep.equal({ from: wallet(1), to: wallet(2) });
      expect((await resolved())?.binding).to.include({ wallet: wallet(2), issuedAt: slot(2) });
    });

    it("renews immediately again once no other link is pending", async () => {
      await world.linked(PHONE, 1);
      await link(2);
      expect((await link(1, { key: shielded(8) })).remaining).to.have.length(1);
      world.now += DAY;
      const at = Math.floor(world.now / 300_000) * 300;
      expect((await link(1, { issuedAt: at, key: shielded(8) })).remaining).to.deep.equal([]);
    });

    it("requires a new code 400 days after the last one, regardless of renewals", async () => {
      await world.linked(PHONE, 1);
      const at = (days: number) => slot() + days * 86_400;
      world.now = NOW + 300 * DAY;
      expect((await link(1, { issuedAt: at(300) })).remaining).to.deep.equal([]);
      world.now = at(400) * 1000;
      expect((await resolved())?.verified).to.equal(true);
      expect((await link(1, { issuedAt: at(400) })).remaining).to.have.length(1);
      // Meanwhile the verified link stays.
      expect((await resolved())?.binding.issuedAt).to.equal(at(300));
      await verify(1);
      expect((await resolved())?.binding.issuedAt).to.equal(at(400));
    });

    it("does not replace a newer pending struct with an older one", async () => {
      await link(1, { issuedAt: slot() });
      expect(await refused(link(1, { issuedAt: slot(-1), key: shielded(8) }))).to.include({ code: "LINK_OUTDATED" });
    });

    it("allows several numbers per wallet", async () => {
      const numbers = ["+14155550101", "+442079460000", "+81312345678"];
      for (const phone of numbers) await world.linked(phone, 1);
      for (const phone of numbers) expect((await resolved(phone))?.binding).to.include({ phone, wallet: wallet(1) });
      await world.registry.unlink(world.unlinkRequest(numbers[0]!, 1));
      expect(await resolved(numbers[0])).to.equal(undefined);
      expect((await resolved(numbers[1]))?.binding.wallet).to.equal(wallet(1));
    });

    it("expires 400 days after signing", async () => {
      await world.linked(PHONE, 1);
      world.now = (slot() + 400 * 86_400) * 1000 - 1;
      expect((await resolved())?.verified).to.equal(true);
      world.now += 1;
      expect(await resolved()).to.equal(undefined);
      // The linked wallet must prove the number again as well.
      const { remaining } = await link(1, { issuedAt: Math.floor(world.now / 300_000) * 300 });
      expect(remaining).to.have.length(1);
      expect((await verify(1)).changed).to.equal(undefined);
      expect((await resolved())?.verified).to.equal(true);
    });
  });

  describe("unlinking", () => {
    it("accepts the current wallet's signature once, and none older than the link", async () => {
      await world.linked(PHONE, 1);
      const { registry } = world;
      expect(await refused(registry.unlink(world.unlinkRequest(PHONE, 2)))).to.include({ code: "NOT_LINKED" });
      const early = world.unlinkRequest(PHONE, 1, slot(-1));
      expect(await refused(registry.unlink(early))).to.include({ code: "LINK_OUTDATED" });
      expect((await resolved())?.verified).to.equal(true);
      const request = world.unlinkRequest(PHONE, 1);
      await registry.unlink(request);
      expect(await resolved()).to.equal(undefined);
      await world.linked(PHONE, 1, { key: shielded(7), issuedAt: slot() });
      expect(await refused(registry.unlink(request))).to.include({ code: "SIGNATURE_REPLAYED" });
      expect((await resolved())?.verified).to.equal(true);
    });

    it("consumes a signature even if there is nothing to revoke", async () => {
      const request = world.unlinkRequest(PHONE, 1);
      expect(await refused(world.registry.unlink(request))).to.include({ code: "NOT_LINKED" });
      await world.linked(PHONE, 1);
      expect(await refused(world.registry.unlink(request))).to.include({ code: "SIGNATURE_REPLAYED" });
    });

    it("revokes a pending link and its code", async () => {
      await link(1);
      await world.registry.unlink(world.unlinkRequest(PHONE, 1));
      expect(await refused(verify(1))).to.include({ code: "CODE_EXPIRED" });
    });
  });

  describe("erasure", () => {
    it("deletes links, codes and counters of one number only", async () => {
      await world.linked(PHONE, 1);
      await world.linked("+14155550101", 1);
      await link(2);
      const erased = await world.registry.erase({ phone: PHONE, client: "operator" });
      expect(erased).to.deep.equal({ mappings: 2, codes: 1, quotas: 2 });
      expect(await resolved()).to.equal(undefined);
      expect((await resolved("+14155550101"))?.verified).to.equal(true);
      expect(await world.registry.erase({ phone: PHONE, client: "operator" })).to.deep.equal({
        mappings: 0,
        codes: 0,
        quotas: 0,
      });
    });
  });

  describe("sweeping", () => {
    it("deletes expired rows and nothing else", async () => {
      await world.linked(PHONE, 1);
      await link(2);
      await world.registry.sweep();
      expect((await verify(2)).mapping.binding.wallet).to.equal(wallet(2));
      await link(3);
      world.now += 2 * DAY;
      await world.registry.sweep();
      expect(await refused(verify(3))).to.include({ code: "CODE_EXPIRED" });
      expect((await resolved())?.binding.wallet).to.equal(wallet(2));
      // By then the signature checks refuse the struct's date.
      world.now += 400 * DAY;
      await world.registry.sweep();
      expect(await world.registry.erase({ phone: PHONE, client: "operator" })).to.include({ mappings: 0, codes: 0 });
    });
  });

  describe("nonces", () => {
    it("are accepted once per wallet, until a deadline within the hour", async () => {
      const { registry } = world;
      const use = { wallet: wallet(1), nonce: "n1", deadline: NOW / 1000 + 60 };
      const all = await Promise.allSettled(Array.from({ length: 8 }, () => registry.useNonce(use)));
      expect(all.filter(({ status }) => status === "fulfilled")).to.have.length(1);
      await registry.useNonce({ ...use, wallet: wallet(2) });
      for (const deadline of [NOW / 1000, NOW / 1000 + 3_601])
        expect(await refused(registry.useNonce({ ...use, nonce: "n2", deadline }))).to.include({
          code: "NONCE_REFUSED",
        });
      world.now += 30_000;
      await registry.sweep();
      expect(await refused(registry.useNonce(use))).to.include({ code: "NONCE_REFUSED" });
    });
  });
});
