// Signed lookups: each signature is valid for one wallet and one number, once, until its deadline.

import { randomBytes } from "node:crypto";
import { lookupTypedData, type PhoneLookup } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { contractWallet } from "@sotto/test-world/contract-wallets";
import { expect } from "chai";
import {
  account,
  call,
  linkVerified,
  newNumber,
  openTestRegistry,
  resolveUrl,
  type Signer,
  type TestRegistry,
} from "./support/world.ts";

describe("signed lookups", function () {
  slow(this, "a chain and a registry's processes");
  let registry: TestRegistry;
  let phone: string;
  const payee = account();
  before(async () => {
    const settings = { SOTTO_PHONE_SIGNED_LOOKUPS: "on", SOTTO_PHONE_LOOKUPS_CALLER: "5/86400" };
    registry = await openTestRegistry(settings, { clock: clockWithin(DAY_MS) });
    phone = newNumber();
    await linkVerified(registry, payee, phone);
  });
  after(() => registry.close());

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  async function headersFor(signer: Signer, lies: Partial<PhoneLookup> = {}): Promise<Record<string, string>> {
    const lookup: PhoneLookup = {
      phone,
      wallet: signer.address as `0x${string}`,
      chainId: BigInt(registry.world.chainId),
      service: registry.service,
      nonce: randomBytes(16).toString("base64url"),
      deadline: inSeconds(240),
      ...lies,
    };
    return {
      "x-sotto-wallet": signer.address,
      "x-sotto-nonce": lookup.nonce,
      "x-sotto-deadline": String(lookup.deadline),
      "x-sotto-signature": await signer.sign(lookupTypedData(lookup)),
    };
  }
  const ask = async (headers: Record<string, string>, number = phone) => {
    const { status, body } = await call(resolveUrl(registry, number), { headers });
    return status === 200 ? body["wallet"] : body["code"];
  };

  it("are answered and identify the wallet", async () => {
    expect(await ask(await headersFor(account()))).to.equal(payee.address);
    expect((await call(`${registry.url}/phone`)).body["signedLookups"]).to.equal(true);
    expect(await ask(await headersFor(await contractWallet(registry.world)))).to.equal(payee.address);
  });

  it("are required if configured", async () => {
    expect(await ask({})).to.equal("LOOKUP_SIGNATURE_REQUIRED");
    const right = await headersFor(account());
    for (const name of Object.keys(right)) {
      const { [name]: _, ...rest } = right;
      expect(await ask(rest), name).to.equal("LOOKUP_SIGNATURE_REQUIRED");
    }
    const unsigned = await registry.resolve(phone);
    expect(unsigned.status).to.equal(401);
  });

  it("are answered once each, even if concurrent", async () => {
    const headers = await headersFor(account());
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(headers)));
    expect(answers.filter((answer) => answer === payee.address)).to.have.length(1);
    expect(answers.filter((answer) => answer === "NONCE_REFUSED")).to.have.length(7);
    expect(await ask(headers)).to.equal("NONCE_REFUSED");
  });

  it("are valid for one number only", async () => {
    const headers = await headersFor(account());
    expect(await ask(headers, newNumber())).to.equal("SIGNATURE_INVALID");
    // The refused lookup did not consume the signature.
    expect(await ask(headers)).to.equal(payee.address);
  });

  it("have a near deadline", async () => {
    for (const deadline of [inSeconds(-1), inSeconds(400), 1])
      expect(await ask(await headersFor(account(), { deadline })), String(deadline)).to.equal("NONCE_REFUSED");
    const headers = await headersFor(account());
    for (const deadline of ["soon", "-5", `0${headers["x-sotto-deadline"]}`, "1e9"])
      expect(await ask({ ...headers, "x-sotto-deadline": deadline }), deadline).to.equal("NONCE_REFUSED");
    const later = { ...headers, "x-sotto-deadline": String(inSeconds(120)) };
    expect(await ask(later)).to.equal("SIGNATURE_INVALID");
  });

  it("are valid for this registry, chain and wallet only", async () => {
    const [signer, other] = [account(), account()];
    for (const lies of [
      { service: "https://other.example/zk" },
      { chainId: 1n },
      { wallet: other.address as `0x${string}` },
    ])
      expect(await ask(await headersFor(signer, lies))).to.equal("SIGNATURE_INVALID");
    const right = await headersFor(signer);
    expect(await ask({ ...right, "x-sotto-wallet": other.address })).to.equal("SIGNATURE_INVALID");
    expect(await ask({ ...right, "x-sotto-nonce": randomBytes(16).toString("base64url") })).to.equal(
      "SIGNATURE_INVALID",
    );
    expect(await ask({ ...right, "x-sotto-nonce": "spaces are not one of them" })).to.equal("BINDING_INVALID");
    expect(await ask({ ...right, "x-sotto-nonce": "short" })).to.equal("INVALID_REQUEST");
    expect(await ask({ ...right, "x-sotto-signature": "0xno" })).to.equal("BINDING_SIGNATURE_INVALID");
    expect(await ask({ ...right, "x-sotto-wallet": right["x-sotto-wallet"]!.slice(2) })).to.equal("INVALID_REQUEST");
    expect(await ask(right)).to.equal(payee.address);
  });

  it("count against the signing wallet, from any address", async () => {
    const signer = account();
    // Repeated lookups of the same number do not count.
    for (let index = 0; index < 6; index += 1) expect(await ask(await headersFor(signer))).to.equal(payee.address);
    const answers = [];
    for (let index = 0; index < 6; index += 1) {
      const unknown = newNumber();
      answers.push(await ask(await headersFor(signer, { phone: unknown }), unknown));
    }
    expect(answers).to.deep.equal([...Array(5).fill("UNKNOWN_NUMBER"), "LOOKUPS_LIMITED"]);
    expect(await ask(await headersFor(signer))).to.equal(payee.address);
    expect(await ask(await headersFor(account()))).to.equal(payee.address);
  });

  it("can be sent by a web page", async () => {
    const headers = { origin: "https://a.example", "access-control-request-method": "GET" };
    const allowed = (await fetch(resolveUrl(registry, phone), { method: "OPTIONS", headers })).headers;
    expect(allowed.get("access-control-allow-headers")).to.include("x-sotto-signature").and.include("x-sotto-nonce");
  });

  it("leave no nonce, wallet or signature in the log", () => {
    const log = registry.logged.join("");
    expect(log).to.include('"route":"/zk/phone/resolve/:phone"').and.not.include(payee.address.slice(2));
    expect(log).to.not.match(/0x[0-9a-f]{40}/);
  });
});
