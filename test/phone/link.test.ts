// Linking a number over HTTP: the four fields of the interface, the proof of the number, and what a stranger learns.
import { createHash } from "node:crypto";
import { bindingSlots, checkBindingSignature, parseAddress } from "@sotto/protocol";
import { expect } from "chai";
import { getAddress } from "ethers";
import {
  account,
  bindingFor,
  call,
  linkBody,
  linkVerified,
  newNumber,
  newShieldedAddress,
  openTestRegistry,
  post,
  proofOf,
  resolveUrl,
  type TestRegistry,
  unlinkBody,
} from "./support/world.ts";

describe("linking a phone number", () => {
  let registry: TestRegistry;
  let now = 0;
  /** ms by which the registry's clock is ahead. */
  const ahead = (ms: number) => {
    now = ms;
  };
  before(async () => {
    registry = await openTestRegistry({}, { clock: () => Date.now() + now });
  });
  beforeEach(() => {
    ahead(0);
    registry.failure = undefined;
  });
  after(() => registry.close());

  const link = (body: unknown) => post(`${registry.url}/phone/link`, body);
  const verify = (body: unknown) => post(`${registry.url}/phone/verify`, body);
  const resolve = (phone: string) => call(resolveUrl(registry, phone));

  it("takes exactly the four fields of the interface, and answers the mapping and what is left to do", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    expect(Object.keys(body)).to.have.members(["phoneNumber", "walletAddress", "signature", "encryptionPublicKey"]);
    const answer = await link(body);
    expect(answer.status).to.equal(200);
    const { issuedAt, expiresAt, remaining, ...rest } = answer.body;
    expect(rest).to.deep.equal({
      wallet: signer.address,
      phoneHash: createHash("sha256").update(phone).digest("hex"),
      encryptedMapping: true,
      verified: false,
      phoneNumber: phone,
      encryptionPublicKey: body.encryptionPublicKey,
      signature: body.signature,
      chainId: String(registry.world.chainId),
      pool: registry.world.pool,
      service: registry.service,
    });
    expect(bindingSlots(Date.now())).to.include(issuedAt);
    expect(expiresAt).to.equal(Number(issuedAt) + 400 * 86_400);
    const [{ step, tries, codeExpiresAt } = {}] = remaining as {
      step?: string;
      tries?: number;
      codeExpiresAt?: number;
    }[];
    expect({ step, tries }).to.deep.equal({ step: "enter-code", tries: 5 });
    expect(codeExpiresAt).to.be.within(Date.now() + 290_000, Date.now() + 300_000);
    expect(answer.headers.get("cache-control")).to.equal("no-store");
  });

  it("is verified by the code alone, and then resolves to all that a payer checks", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    await link(body);
    expect((await resolve(phone)).body).to.include({ wallet: signer.address, verified: false });
    const verified = await verify(proofOf(registry, signer, phone));
    expect([verified.status, verified.body["verified"]]).to.deep.equal([200, true]);
    expect(verified.body).to.not.have.property("changed");
    const found = (await resolve(phone)).body;
    expect(found).to.deep.equal(verified.body);
    const binding = {
      ...{ phone: String(found["phoneNumber"]), wallet: parseAddress(found["wallet"]) },
      ...{ key: String(found["encryptionPublicKey"]), chainId: BigInt(String(found["chainId"])) },
      ...{ pool: parseAddress(found["pool"]), service: String(found["service"]) },
      issuedAt: Number(found["issuedAt"]),
    };
    const noChain = () => Promise.reject(new Error("an account's signature needs no chain"));
    expect(await checkBindingSignature(binding, String(found["signature"]), noChain)).to.equal(true);
  });

  it("finds the slot that was signed: this one, the one before, the one after, and no other", async () => {
    const slots = bindingSlots(Date.now());
    for (const issuedAt of slots) {
      const answer = await link(await linkBody(registry, account(), newNumber(), { issuedAt }));
      expect([answer.status, answer.body["issuedAt"]]).to.deep.equal([200, issuedAt]);
    }
    for (const issuedAt of [Math.min(...slots) - 300, Math.max(...slots) + 300]) {
      const answer = await link(await linkBody(registry, account(), newNumber(), { issuedAt }));
      expect([answer.status, answer.body["code"]]).to.deep.equal([401, "SIGNATURE_INVALID"]);
    }
  });

  it("takes a fifth field that names a slot of the last 24 hours", async () => {
    const [slot = 0] = bindingSlots(Date.now());
    const at = async (issuedAt: number, named = issuedAt) => {
      const answer = await link({
        ...(await linkBody(registry, account(), newNumber(), { issuedAt })),
        issuedAt: named,
      });
      return answer.status === 200 ? 200 : answer.body["code"];
    };
    expect(await at(slot - 23 * 3600)).to.equal(200);
    expect(await at(slot - 25 * 3600)).to.equal("BINDING_STALE");
    expect(await at(slot + 900)).to.equal("BINDING_FROM_THE_FUTURE");
    expect(await at(slot, slot - 300)).to.equal("SIGNATURE_INVALID");
    expect(await at(slot, slot + 1)).to.equal("BINDING_INVALID");
    expect(await at(slot, -300)).to.equal("INVALID_REQUEST");
  });

  it("takes addresses of any case, and of mixed case with a right checksum alone", async () => {
    const signer = account();
    const right = getAddress(signer.address);
    const flipped = [...right].map((letter, at) => (at < 2 ? letter : flip(letter))).join("");
    for (const [walletAddress, status] of [
      [right, 200],
      [signer.address, 200],
      [`0x${signer.address.slice(2).toUpperCase()}`, 200],
      [flipped, 400],
      [right.slice(0, -1), 400],
    ] as const) {
      const answer = await link({ ...(await linkBody(registry, signer, newNumber())), walletAddress });
      expect(answer.status, walletAddress).to.equal(status);
      if (status === 200) expect(answer.body["wallet"]).to.equal(signer.address);
    }
  });

  it("takes a shielded address that can be paid, and no other", async () => {
    const [signer, phone] = [account(), newNumber()];
    const right = await linkBody(registry, signer, phone);
    const tag = right.encryptionPublicKey.slice(66);
    const p = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
    const hex = (value: bigint) => value.toString(16).padStart(64, "0");
    // packPoint: little-endian y, sign of x in the last bit.
    const identity = `01${"00".repeat(31)}`;
    const smallOrder = Buffer.from(hex(p - 1n), "hex")
      .reverse()
      .toString("hex");
    for (const [what, key] of [
      ["the identity", `0x${identity}${tag}`],
      ["a point of order 2", `0x${smallOrder}${tag}`],
      ["no point", `0x${"ff".repeat(32)}${tag}`],
      ["a tag that is no field element", `${right.encryptionPublicKey.slice(0, 66)}${hex(p)}`],
      ["capital letters", right.encryptionPublicKey.toUpperCase().replace("0X", "0x")],
      ["a key alone", right.encryptionPublicKey.slice(0, 66)],
    ] as const) {
      const answer = await link({ ...right, encryptionPublicKey: key });
      expect(answer.status, what).to.equal(400);
    }
    expect((await link(right)).status).to.equal(200);
  });

  it("sends another code to who asks again, and the one before is dead", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    const first = await link(body);
    const old = proofOf(registry, signer, phone);
    // Ten minutes later the slot has to be named: this answer says which it was.
    ahead(600_000);
    expect((await link(body)).body["code"]).to.equal("SIGNATURE_INVALID");
    expect((await link({ ...body, issuedAt: first.body["issuedAt"] })).status).to.equal(200);
    const fresh = proofOf(registry, signer, phone);
    if (old.code !== fresh.code) expect((await verify(old)).body["code"]).to.equal("CODE_WRONG");
    expect((await verify(fresh)).status).to.equal(200);
    expect((await verify(fresh)).body["code"]).to.equal("CODE_EXPIRED");
  });

  it("says that a code could not be sent, and sends it when asked again", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    registry.failure = new Error(`the network said no to ${phone}`);
    const answer = await link(body);
    expect([answer.status, answer.body["remaining"]]).to.deep.equal([200, [{ step: "ask-again" }]]);
    registry.failure = undefined;
    expect((await link(body)).status).to.equal(200);
    expect((await verify(proofOf(registry, signer, phone))).status).to.equal(200);
    expect(registry.logged.join("")).to.not.include(phone);
  });

  it("gives five tries in five minutes", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    await link(body);
    const right = proofOf(registry, signer, phone);
    const wrong = { ...right, code: right.code === "111111" ? "222222" : "111111" };
    for (let index = 0; index < 5; index += 1) expect((await verify(wrong)).body["code"]).to.equal("CODE_WRONG");
    const exhausted = await verify(right);
    expect([exhausted.status, exhausted.body["code"]]).to.deep.equal([410, "CODE_EXHAUSTED"]);
    await link(body);
    ahead(301_000);
    const late = await verify(proofOf(registry, signer, phone));
    expect([late.status, late.body["code"]]).to.deep.equal([410, "CODE_EXPIRED"]);
    expect((await resolve(phone)).body["verified"]).to.equal(false);
  });

  it("tells a stranger nothing of who has a number", async () => {
    const [owner, stranger, taken, free] = [account(), account(), newNumber(), newNumber()];
    await linkVerified(registry, owner, taken);
    const [ofTaken, ofFree] = [taken, free].map(async (phone) => {
      const { status, headers, body } = await link(await linkBody(registry, stranger, phone));
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
    // Until it is proven it shadows nothing.
    expect((await resolve(taken)).body).to.include({ wallet: owner.address, verified: true });
    for (const phone of [taken, free]) {
      const guess = { phoneNumber: phone, walletAddress: stranger.address, code: "000000" };
      const refused = await verify(guess);
      if (refused.status !== 200) expect(refused.body["code"]).to.equal("CODE_WRONG");
    }
  });

  it("moves a number to another wallet for who proves it again, and says what changed", async () => {
    const [before, after, phone] = [account(), account(), newNumber()];
    const old = await linkVerified(registry, before, phone);
    const body = await linkBody(registry, after, phone);
    const answer = await link(body);
    expect(JSON.stringify(answer.body)).to.not.include(before.address.slice(2));
    const { changed, ...mapping } = (await verify(proofOf(registry, after, phone))).body;
    expect(changed).to.deep.equal({
      wallet: { from: before.address, to: after.address },
      encryptionPublicKey: { from: old.encryptionPublicKey, to: body.encryptionPublicKey },
    });
    expect(mapping).to.include({ wallet: after.address, verified: true });
  });

  it("renews a proven link of the same wallet without a code, and says what changed", async () => {
    const [signer, phone] = [account(), newNumber()];
    const old = await linkVerified(registry, signer, phone);
    ahead(300_000);
    const [issuedAt = 0] = bindingSlots(Date.now() + 300_000);
    const body = await linkBody(registry, signer, phone, { issuedAt });
    const { remaining, changed, verified } = (await link(body)).body;
    expect([remaining, verified]).to.deep.equal([[], true]);
    expect(changed).to.deep.equal({
      encryptionPublicKey: { from: old.encryptionPublicKey, to: body.encryptionPublicKey },
    });
  });

  it("keeps several numbers of one wallet", async () => {
    const [signer, first, second] = [account(), newNumber(), newNumber()];
    await linkVerified(registry, signer, first);
    await linkVerified(registry, signer, second);
    for (const phone of [first, second])
      expect((await resolve(phone)).body).to.include({ wallet: signer.address, phoneNumber: phone });
  });

  it("sends the code to the number of the wallet that asked, and takes it for that wallet alone", async () => {
    const [owner, thief, phone] = [account(), account(), newNumber()];
    await link(await linkBody(registry, owner, phone));
    await link(await linkBody(registry, thief, phone));
    const [forOwner, forThief] = [proofOf(registry, owner, phone), proofOf(registry, thief, phone)];
    expect(registry.codes.at(-1)).to.include({ phone, wallet: thief.address });
    // The owner types in what it was sent for its own wallet; the thief cannot use it.
    if (forOwner.code !== forThief.code)
      expect((await verify({ ...forThief, code: forOwner.code })).body["code"]).to.equal("CODE_WRONG");
    expect((await verify(forOwner)).body["wallet"]).to.equal(owner.address);
  });

  it("is taken back by the wallet, with all that is known of it", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    const [slot = 0] = bindingSlots(Date.now());
    const body = await unlinkBody(registry, signer, phone, slot);
    expect((await post(`${registry.url}/phone/unlink`, body)).body).to.deep.equal({ unlinked: true });
    expect((await resolve(phone)).body["code"]).to.equal("UNKNOWN_NUMBER");
    expect((await post(`${registry.url}/phone/unlink`, body)).body["code"]).to.equal("SIGNATURE_REPLAYED");
  });

  it("is not taken back by anybody else, and the answers tell nothing", async () => {
    const [owner, stranger, phone, free] = [account(), account(), newNumber(), newNumber()];
    await linkVerified(registry, owner, phone);
    for (const number of [phone, free]) {
      const body = await unlinkBody(registry, stranger, number);
      expect((await post(`${registry.url}/phone/unlink`, body)).body).to.include({ code: "NOT_LINKED" });
      const forged = { ...(await unlinkBody(registry, stranger, number)), walletAddress: owner.address };
      expect((await post(`${registry.url}/phone/unlink`, forged)).body).to.include({ code: "SIGNATURE_INVALID" });
    }
    // A signature to link is none to take back, nor the other way round.
    const linked = await linkBody(registry, owner, phone);
    const [issuedAt = 0] = bindingSlots(Date.now());
    const misused = { ...linked, issuedAt };
    expect((await post(`${registry.url}/phone/unlink`, misused)).body).to.include({ code: "SIGNATURE_INVALID" });
    expect((await resolve(phone)).body["wallet"]).to.equal(owner.address);
  });

  it("is told by GET /phone what to sign for", async () => {
    expect((await call(`${registry.url}/phone`)).body).to.deep.equal({
      service: registry.service,
      chainId: String(registry.world.chainId),
      pool: registry.world.pool,
      signedLookups: false,
      unverified: "show",
      slotSeconds: 300,
      lifetimeSeconds: 34_560_000,
    });
    expect(registry.service).to.equal(registry.url);
  });

  it("refuses countries and kinds of numbers that are not served", async () => {
    const closed = await openTestRegistry({ SOTTO_PHONE_COUNTRIES: "DE,AT" });
    try {
      const codeOf = async (phone: string) =>
        (await post(`${closed.url}/phone/link`, await linkBody(closed, account(), phone))).body["code"];
      expect(await codeOf("+4915112345678")).to.equal(undefined);
      expect(await codeOf("+33612345678")).to.equal("NUMBER_NOT_SERVED");
      expect(await codeOf("+499001234567")).to.equal("NUMBER_NOT_SERVED");
      // Who is there already is found all the same.
      expect((await call(resolveUrl(closed, "+33612345678"))).body["code"]).to.equal("UNKNOWN_NUMBER");
    } finally {
      await closed.close();
    }
  });

  it("limits codes of a number, a wallet and an address, and says when to come back", async () => {
    const limits = {
      SOTTO_PHONE_CODES_NUMBER: "2/600",
      SOTTO_PHONE_CODES_WALLET: "3/600",
      SOTTO_PHONE_CODES_CLIENT: "6/600",
      SOTTO_PHONE_TRIES_CLIENT: "2/600",
    };
    const limited = await openTestRegistry(limits);
    try {
      const ask = async (signer = account(), phone = newNumber()) => {
        const answer = await post(`${limited.url}/phone/link`, await linkBody(limited, signer, phone));
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
      for (let index = 0; index < 3; index += 1)
        tried.push((await post(`${limited.url}/phone/verify`, guess)).body["code"]);
      expect(tried).to.deep.equal(["CODE_EXPIRED", "CODE_EXPIRED", "CODES_LIMITED"]);
    } finally {
      await limited.close();
    }
  });

  it("understands numbers as they are written, where they can only be one", async () => {
    const german = await openTestRegistry({ SOTTO_PHONE_DEFAULT_COUNTRY: "DE" });
    try {
      const [signer, key] = [account(), newShieldedAddress()];
      const body = await linkBody(german, signer, "+4915123456789", { key });
      const answer = await post(`${german.url}/phone/link`, { ...body, phoneNumber: "01512 3456789" });
      expect([answer.status, answer.body["phoneNumber"]]).to.deep.equal([200, "+4915123456789"]);
      // What is signed is the number itself, however it is written.
      const signedLocal = bindingFor(german, signer.address, "+4915123456789", { key });
      expect(signedLocal.phone).to.equal("+4915123456789");
      for (const written of ["01512 3456789", "(01512) 3456789", "4915123456789", "+49 1512 3456789"])
        expect((await call(resolveUrl(german, written))).body["wallet"], written).to.equal(signer.address);
    } finally {
      await german.close();
    }
  });
});

const flip = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
