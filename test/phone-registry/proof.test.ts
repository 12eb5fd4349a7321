// Verification of a number by the code sent to it, what other wallets can learn meanwhile, and how a link is moved,
// renewed and revoked.

import { bindingSlots } from "@sotto/protocol";
import { clockWithin } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { expect } from "chai";
import {
  account,
  linkBody,
  linkVerified,
  newNumber,
  openTestRegistry,
  proofOf,
  registryOf,
  unlinkBody,
} from "./support/world.ts";

describe("verifying a phone number", function () {
  const registry = registryOf(this);

  it("sends a new code on request, and the previous one becomes invalid", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    const first = await registry.link(body);
    const old = proofOf(registry, signer, phone);
    // Ten minutes later, the client must send the issuedAt of the first response.
    registry.ahead = 600_000;
    expect((await registry.link(body)).body["code"]).to.equal("SIGNATURE_INVALID");
    expect((await registry.link({ ...body, issuedAt: first.body["issuedAt"] })).status).to.equal(200);
    const fresh = proofOf(registry, signer, phone);
    if (old.code !== fresh.code) expect((await registry.verify(old)).body["code"]).to.equal("CODE_WRONG");
    expect((await registry.verify(fresh)).status).to.equal(200);
    expect((await registry.verify(fresh)).body["code"]).to.equal("CODE_EXPIRED");
  });

  it("reports that a code could not be sent, and sends it on retry", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    registry.failure = new Error(`the network said no to ${phone}`);
    const answer = await registry.link(body);
    expect([answer.status, answer.body["remaining"]]).to.deep.equal([200, [{ step: "ask-again" }]]);
    registry.failure = undefined;
    expect((await registry.link(body)).status).to.equal(200);
    expect((await registry.verify(proofOf(registry, signer, phone))).status).to.equal(200);
    expect(registry.logged.join("")).to.not.include(phone);
  });

  it("allows five attempts in five minutes", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    await registry.link(body);
    const right = proofOf(registry, signer, phone);
    const wrong = { ...right, code: right.code === "111111" ? "222222" : "111111" };
    for (let index = 0; index < 5; index += 1)
      expect((await registry.verify(wrong)).body["code"]).to.equal("CODE_WRONG");
    const exhausted = await registry.verify(right);
    expect([exhausted.status, exhausted.body["code"]]).to.deep.equal([410, "CODE_EXHAUSTED"]);
    await registry.link(body);
    registry.ahead = 301_000;
    const late = await registry.verify(proofOf(registry, signer, phone));
    expect([late.status, late.body["code"]]).to.deep.equal([410, "CODE_EXPIRED"]);
    expect((await registry.resolve(phone)).body["verified"]).to.equal(false);
  });

  it("reveals nothing about a number's holder to another wallet", async () => {
    const [owner, stranger, taken, free] = [account(), account(), newNumber(), newNumber()];
    await linkVerified(registry, owner, taken);
    const [ofTaken, ofFree] = [taken, free].map(async (phone) => {
      const { status, headers, body } = await registry.link(await linkBody(registry, stranger, phone));
      const { phoneHash, phoneNumber, signature, encryptionPublicKey, remaining, ...rest } = body;
      return {
        status,
        names: Object.keys(body),
        headers: [...headers.keys()],
        rest,
        steps: JSON.stringify(remaining).replace(/\d{10,}/, ""),
      };
    });
    expect(await ofTaken).to.deep.equal(await ofFree);
    // An unverified link does not hide a verified one.
    expect((await registry.resolve(taken)).body).to.include({ wallet: owner.address, verified: true });
    for (const phone of [taken, free]) {
      const guess = { phoneNumber: phone, walletAddress: stranger.address, code: "000000" };
      const refused = await registry.verify(guess);
      if (refused.status !== 200) expect(refused.body["code"]).to.equal("CODE_WRONG");
    }
  });

  it("moves a number to another wallet after a new code, and reports the change", async () => {
    const [before, after, phone] = [account(), account(), newNumber()];
    const old = await linkVerified(registry, before, phone);
    const body = await linkBody(registry, after, phone);
    const answer = await registry.link(body);
    expect(JSON.stringify(answer.body)).to.not.include(before.address.slice(2));
    const { changed, ...mapping } = (await registry.verify(proofOf(registry, after, phone))).body;
    expect(changed).to.deep.equal({
      wallet: { from: before.address, to: after.address },
      encryptionPublicKey: { from: old.encryptionPublicKey, to: body.encryptionPublicKey },
    });
    expect(mapping).to.include({ wallet: after.address, verified: true });
  });

  it("renews a verified link of the same wallet without a code, and reports the change", async () => {
    const [signer, phone] = [account(), newNumber()];
    const old = await linkVerified(registry, signer, phone);
    registry.ahead = 300_000;
    const [issuedAt = 0] = bindingSlots(Date.now() + 300_000);
    const body = await linkBody(registry, signer, phone, { issuedAt });
    const { remaining, changed, verified } = (await registry.link(body)).body;
    expect([remaining, verified]).to.deep.equal([[], true]);
    expect(changed).to.deep.equal({
      encryptionPublicKey: { from: old.encryptionPublicKey, to: body.encryptionPublicKey },
    });
  });

  it("allows several numbers per wallet", async () => {
    const [signer, first, second] = [account(), newNumber(), newNumber()];
    await linkVerified(registry, signer, first);
    await linkVerified(registry, signer, second);
    for (const phone of [first, second])
      expect((await registry.resolve(phone)).body).to.include({ wallet: signer.address, phoneNumber: phone });
  });

  it("accepts a code only for the wallet that requested it", async () => {
    const [owner, thief, phone] = [account(), account(), newNumber()];
    await registry.link(await linkBody(registry, owner, phone));
    await registry.link(await linkBody(registry, thief, phone));
    const [forOwner, forThief] = [proofOf(registry, owner, phone), proofOf(registry, thief, phone)];
    expect(registry.codes.at(-1)).to.include({ phone, wallet: thief.address });
    // The owner enters the code for its own wallet; the thief cannot use it.
    if (forOwner.code !== forThief.code)
      expect((await registry.verify({ ...forThief, code: forOwner.code })).body["code"]).to.equal("CODE_WRONG");
    expect((await registry.verify(forOwner)).body["wallet"]).to.equal(owner.address);
  });

  it("lets the wallet revoke the number, along with all its data", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    const [slot = 0] = bindingSlots(Date.now());
    const body = await unlinkBody(registry, signer, phone, slot);
    expect((await registry.unlink(body)).body).to.deep.equal({ unlinked: true });
    expect((await registry.resolve(phone)).body["code"]).to.equal("UNKNOWN_NUMBER");
    expect((await registry.unlink(body)).body["code"]).to.equal("SIGNATURE_REPLAYED");
  });

  it("lets nobody else revoke the number, and reveals nothing in the responses", async () => {
    const [owner, stranger, phone, free] = [account(), account(), newNumber(), newNumber()];
    await linkVerified(registry, owner, phone);
    for (const number of [phone, free]) {
      const body = await unlinkBody(registry, stranger, number);
      expect((await registry.unlink(body)).body).to.include({ code: "NOT_LINKED" });
      const forged = { ...(await unlinkBody(registry, stranger, number)), walletAddress: owner.address };
      expect((await registry.unlink(forged)).body).to.include({ code: "SIGNATURE_INVALID" });
    }
    // A signature to link does not unlink, and vice versa.
    const linked = await linkBody(registry, owner, phone);
    const [issuedAt = 0] = bindingSlots(Date.now());
    const misused = { ...linked, issuedAt };
    expect((await registry.unlink(misused)).body).to.include({ code: "SIGNATURE_INVALID" });
    expect((await registry.resolve(phone)).body["wallet"]).to.equal(owner.address);
  });

  it("respects the operator's limit on codes, and says when to retry", async () => {
    const limited = closedAfterTest(
      await openTestRegistry({ SOTTO_PHONE_CODES_TOTAL: "3/86400" }, { clock: clockWithin(86_400_000) }),
    );
    const ask = async (phone = newNumber()) => limited.link(await linkBody(limited, account(), phone));
    for (let index = 0; index < 3; index += 1) expect((await ask()).status).to.equal(200);
    const { status, body, headers } = await ask();
    expect([status, body["code"]]).to.deep.equal([429, "CODES_LIMITED"]);
    expect(body["message"]).to.match(/^limit exceeded: 3 codes in total.* in a day; retry in \d+ (s|min|h)$/);
    expect(Number(headers.get("retry-after"))).to.be.within(1, 86_400);
    expect(limited.codes).to.have.length(3);
  });

  it("limits codes per number, wallet and address, and says when to retry", async () => {
    const limits = {
      SOTTO_PHONE_CODES_NUMBER: "2/600",
      SOTTO_PHONE_CODES_WALLET: "3/600",
      SOTTO_PHONE_CODES_CLIENT: "6/600",
      SOTTO_PHONE_TRIES_CLIENT: "2/600",
    };
    const limited = closedAfterTest(await openTestRegistry(limits, { clock: clockWithin(600_000) }));
    const ask = async (signer = account(), phone = newNumber()) => {
      const answer = await limited.link(await linkBody(limited, signer, phone));
      if (answer.status === 429) expect(Number(answer.headers.get("retry-after"))).to.be.within(1, 600);
      return answer.body["code"] ?? 200;
    };
    const phone = newNumber();
    expect([await ask(account(), phone), await ask(account(), phone)]).to.deep.equal([200, 200]);
    expect(await ask(account(), phone)).to.equal("CODES_LIMITED");
    const signer = account();
    expect([await ask(signer), await ask(signer), await ask(signer)]).to.deep.equal([200, 200, 200]);
    expect(await ask(signer)).to.equal("CODES_LIMITED");
    expect([await ask(), await ask()]).to.deep.equal([200, "CODES_LIMITED"]);
    const guess = { phoneNumber: phone, walletAddress: signer.address, code: "123456" };
    const tried = [];
    for (let index = 0; index < 3; index += 1) tried.push((await limited.verify(guess)).body["code"]);
    expect(tried).to.deep.equal(["CODE_EXPIRED", "CODE_EXPIRED", "CODES_LIMITED"]);
  });
});
