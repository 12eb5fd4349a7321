// Concurrent requests for one number: exactly one wallet holds the number in the end, and only if it verified the
// number.

import { expect } from "chai";
import { account, linkBody, linkVerified, newNumber, proofOf, registryOf, unlinkBody } from "./support/world.ts";

const ROUNDS = process.env["SOTTO_LONG"] === "1" ? 100 : 12;

describe("races for a phone number", function () {
  const registry = registryOf(this);
  const ownerOf = async (phone: string) => (await registry.resolve(phone)).body;

  it("leave one owner if two link and verify concurrently, and report the takeover", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [one, two, phone] = [account(), account(), newNumber()];
      const bodies = await Promise.all([linkBody(registry, one, phone), linkBody(registry, two, phone)]);
      const linked = await Promise.all(bodies.map(registry.link));
      expect(linked.map(({ status }) => status)).to.deep.equal([200, 200]);
      const proofs = [proofOf(registry, one, phone), proofOf(registry, two, phone)];
      const proven = await Promise.all(proofs.map(registry.verify));
      expect(proven.map(({ status }) => status)).to.deep.equal([200, 200]);
      // The second response reports the change, and its wallet holds the number.
      const second = proven.filter(({ body }) => body["changed"] !== undefined);
      expect(second).to.have.length(1);
      expect((await ownerOf(phone))["wallet"]).to.equal(second[0]!.body["wallet"]);
    }
  });

  it("accept a code once", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [signer, phone] = [account(), newNumber()];
      await registry.link(await linkBody(registry, signer, phone));
      const proof = proofOf(registry, signer, phone);
      const answers = await Promise.all(Array.from({ length: 6 }, () => registry.verify(proof)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      expect(answers.filter(({ body }) => body["code"] === "CODE_EXPIRED")).to.have.length(5);
    }
  });

  it("allow five attempts, even if concurrent", async () => {
    const [signer, phone] = [account(), newNumber()];
    await registry.link(await linkBody(registry, signer, phone));
    const right = proofOf(registry, signer, phone);
    const guesses = Array.from({ length: 30 }, (_, index) =>
      String((Number(right.code) + 1 + index) % 1_000_000).padStart(6, "0"),
    );
    const answers = await Promise.all(guesses.map((code) => registry.verify({ ...right, code })));
    expect(answers.filter(({ body }) => body["code"] === "CODE_WRONG")).to.have.length(5);
    expect((await registry.verify(right)).body["code"]).to.equal("CODE_EXHAUSTED");
  });

  it("send the codes of one link in sequence, and the last one is valid", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    const answers = await Promise.all([registry.link(body), registry.link(body), registry.link(body)]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const codes = registry.codes.filter((message) => message.phone === phone).map(({ code }) => code);
    const tried = [];
    for (const code of new Set(codes))
      tried.push((await registry.verify({ ...proofOf(registry, signer, phone), code })).status);
    expect(tried.filter((status) => status === 200)).to.have.length(1);
  });

  it("serialize revocation and verification", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [before, after, phone] = [account(), account(), newNumber()];
      await linkVerified(registry, before, phone);
      await registry.link(await linkBody(registry, after, phone));
      const unlink = await unlinkBody(registry, before, phone);
      const [taken, proven] = await Promise.all([
        registry.unlink(unlink),
        registry.verify(proofOf(registry, after, phone)),
      ]);
      expect(proven.status).to.equal(200);
      // Unlinking succeeds only before the other wallet takes over.
      const overtaken = proven.body["changed"] !== undefined;
      expect(taken.body["code"] ?? "unlinked").to.equal(overtaken ? "NOT_LINKED" : "unlinked");
      expect(await ownerOf(phone)).to.include({ wallet: after.address, verified: true });
    }
  });
});
