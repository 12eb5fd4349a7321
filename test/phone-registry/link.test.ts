// Linking a number over HTTP: the four fields of the interface, the verification, and what another wallet can learn.

import { createHash } from "node:crypto";
import { bindingSlots, parseAddress, verifyBindingSignature } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { expect } from "chai";
import { getAddress } from "ethers";
import {
  account,
  bindingFor,
  call,
  linkBody,
  newNumber,
  newShieldedAddress,
  openTestRegistry,
  proofOf,
  registryOf,
} from "./support/world.ts";

describe("linking a phone number", function () {
  const registry = registryOf(this);

  it("accepts exactly the four fields of the interface, and returns the mapping and the next step", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    expect(Object.keys(body)).to.have.members(["phoneNumber", "walletAddress", "signature", "encryptionPublicKey"]);
    const before = Date.now();
    const answer = await registry.link(body);
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
    expect(codeExpiresAt).to.be.within(before + 300_000, Date.now() + 300_000);
    expect(answer.headers.get("cache-control")).to.equal("no-store");
  });

  it("is completed by the code, after which the number resolves to everything that a payer checks", async () => {
    const [signer, phone] = [account(), newNumber()];
    const body = await linkBody(registry, signer, phone);
    await registry.link(body);
    expect((await registry.resolve(phone)).body).to.include({ wallet: signer.address, verified: false });
    const verified = await registry.verify(proofOf(registry, signer, phone));
    expect([verified.status, verified.body["verified"]]).to.deep.equal([200, true]);
    expect(verified.body).to.not.have.property("changed");
    const found = (await registry.resolve(phone)).body;
    expect(found).to.deep.equal(verified.body);
    const binding = {
      phone: String(found["phoneNumber"]),
      wallet: parseAddress(found["wallet"]),
      key: String(found["encryptionPublicKey"]),
      chainId: BigInt(String(found["chainId"])),
      pool: parseAddress(found["pool"]),
      service: String(found["service"]),
      issuedAt: Number(found["issuedAt"]),
    };
    const noChain = () => Promise.reject(new Error("an account's signature needs no chain"));
    expect(await verifyBindingSignature(binding, String(found["signature"]), noChain)).to.equal(true);
  });

  it("finds the signed slot: the current, the previous or the next, and no other", async () => {
    const now = Date.now();
    const stopped = closedAfterTest(await openTestRegistry({}, { clock: () => now }));
    const slots = bindingSlots(now);
    for (const issuedAt of slots) {
      const answer = await stopped.link(await linkBody(stopped, account(), newNumber(), { issuedAt }));
      expect([answer.status, answer.body["issuedAt"]]).to.deep.equal([200, issuedAt]);
    }
    for (const issuedAt of [Math.min(...slots) - 300, Math.max(...slots) + 300]) {
      const answer = await stopped.link(await linkBody(stopped, account(), newNumber(), { issuedAt }));
      expect([answer.status, answer.body["code"]]).to.deep.equal([401, "SIGNATURE_INVALID"]);
      // The message names the struct to sign, the registry, and the documentation.
      const words = ["EIP-712 struct ShieldedAddressBinding", stopped.service, stopped.world.pool, "docs/protocol.md"];
      for (const word of words) expect(answer.body["message"]).to.include(word);
    }
  });

  it("accepts a fifth field that names a slot of the last 24 hours", async () => {
    const [slot = 0] = bindingSlots(Date.now());
    const at = async (issuedAt: number, named = issuedAt) => {
      const answer = await registry.link({
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

  it("accepts addresses in any case, and mixed case only with a valid checksum", async () => {
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
      const answer = await registry.link({ ...(await linkBody(registry, signer, newNumber())), walletAddress });
      expect(answer.status, walletAddress).to.equal(status);
      if (status === 200) expect(answer.body["wallet"]).to.equal(signer.address);
    }
  });

  it("accepts only shielded addresses that can be paid", async () => {
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
      ["an account's public key", `0x04${"11".repeat(64)}`],
    ] as const) {
      const { status, body } = await registry.link({ ...right, encryptionPublicKey: key });
      expect([status, body["code"]], what).to.deep.equal([400, "INVALID_SHIELDED_ADDRESS"]);
    }
    const { body } = await registry.link({ ...right, encryptionPublicKey: `0x04${"11".repeat(64)}` });
    for (const word of ["shielded address", "128 lower-case hex digits", "got 132 characters", "sotto address"])
      expect(body["message"]).to.include(word);
    expect((await registry.link(right)).status).to.equal(200);
  });

  it("describes what to sign at GET /phone", async () => {
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

  it("rejects countries and kinds of numbers that are not served", async () => {
    const closed = closedAfterTest(await openTestRegistry({ SOTTO_PHONE_COUNTRIES: "DE,AT" }));
    const codeOf = async (phone: string) => (await closed.link(await linkBody(closed, account(), phone))).body["code"];
    expect(await codeOf("+4915112345678")).to.equal(undefined);
    expect(await codeOf("+33612345678")).to.equal("NUMBER_NOT_SERVED");
    expect(await codeOf("+499001234567")).to.equal("NUMBER_NOT_SERVED");
    // Lookups still accept these numbers, because they may have been linked earlier.
    expect((await closed.resolve("+33612345678")).body["code"]).to.equal("UNKNOWN_NUMBER");
  });

  it("parses a number in national notation if it is unambiguous", async () => {
    const german = closedAfterTest(await openTestRegistry({ SOTTO_PHONE_DEFAULT_COUNTRY: "DE" }));
    const [signer, key] = [account(), newShieldedAddress()];
    const body = await linkBody(german, signer, "+4915123456789", { key });
    const answer = await german.link({ ...body, phoneNumber: "01512 3456789" });
    expect([answer.status, answer.body["phoneNumber"]]).to.deep.equal([200, "+4915123456789"]);
    // The signature covers the normalized number, regardless of its spelling.
    const signedLocal = bindingFor(german, signer.address, "+4915123456789", { key });
    expect(signedLocal.phone).to.equal("+4915123456789");
    for (const written of ["01512 3456789", "(01512) 3456789", "4915123456789", "+49 1512 3456789"])
      expect((await german.resolve(written)).body["wallet"], written).to.equal(signer.address);
  });
});

const flip = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
