import { rejection } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { World } from "../../../wallet/test/support/world.ts";
import { phonePin } from "../../src/phone/pins.ts";
import { lookUpPhone } from "../../src/phone/resolve.ts";
import { BEGIN, keyOf, type Linked, LyingRegistry, PHONE, withoutWallets } from "../support/phone-registry.ts";

describe("a registry's response", () => {
  let registry: LyingRegistry;
  let world: World;
  let wallet: Wallet;

  beforeEach(async () => {
    registry = await LyingRegistry.open();
    world = new World();
    wallet = await world.wallet({ chain: withoutWallets(world.chain) });
  });
  afterEach(() => registry.close());

  const refused = async (phone = PHONE) => {
    const error = await rejection(lookUpPhone(wallet, registry.client(), phone));
    // No error contains the number.
    for (const text of [error.message, JSON.stringify(error.details), String(error.cause ?? "")])
      expect(text).to.not.include(PHONE.slice(1));
    return error;
  };
  const lies = async (linked: Linked, lie: Record<string, unknown> = {}) => {
    registry.serve(linked, lie);
    return refused();
  };

  it("is accepted if the wallet signed it", async () => {
    registry.serve();
    const found = await lookUpPhone(wallet, registry.client(), "+1 (415) 555-0123");
    expect(found).to.deep.equal({
      phone: PHONE,
      wallet: registry.owner.address.toLowerCase(),
      shieldedAddress: keyOf(1),
      issuedAt: BEGIN,
      registry: registry.url,
      standing: "new",
      known: undefined,
    });
    expect(registry.asked.map(({ path }) => path)).to.deep.equal([`/zk/phone/resolve/${encodeURIComponent(PHONE)}`]);
    expect(await phonePin(wallet.store, PHONE), "looking is not paying").to.equal(undefined);
  });

  it("is not requested for a number that is not in international form", async () => {
    for (const phone of [
      "",
      "4155550123",
      "004155550123",
      "+0415",
      "+1415555x",
      `+1${"0".repeat(15)}`,
      " ".repeat(65),
      "+",
      "tel:+1",
      "+٤١٥٥٥٥",
      5,
      null,
    ])
      expect((await refused(phone as string)).code, String(phone)).to.equal("PHONE_NUMBER_INVALID");
    expect(registry.asked).to.deep.equal([]);
  });

  it("is distinguished from an unknown number and from a server that is not a registry", async () => {
    registry.answer = async () => ({ status: 404, body: { code: "UNKNOWN_NUMBER", message: "nobody" } });
    expect((await refused()).code).to.equal("PHONE_UNKNOWN");
    registry.answer = async () => ({ status: 404, body: { code: "NOT_FOUND", message: "no such route" } });
    expect((await refused()).code).to.equal("SERVICE_REFUSED");
    registry.answer = async () => ({ status: 429, body: { code: "LOOKUPS_LIMITED", message: "too many" } });
    expect((await refused()).details).to.include({ status: 429, reason: "LOOKUPS_LIMITED" });
  });

  it("is rejected with a wallet or key other than the signed one", async () => {
    const thief = Account.createRandom();
    expect((await lies({}, { wallet: thief.address.toLowerCase() })).code).to.equal("PHONE_NOT_SIGNED");
    expect((await lies({}, { encryptionPublicKey: keyOf(2) })).code).to.equal("PHONE_NOT_SIGNED");
    const signature = (await registry.mapping({ signer: thief }))["signature"];
    expect((await lies({}, { signature })).code, "the thief's signature for the owner").to.equal("PHONE_NOT_SIGNED");
    const older = (await registry.mapping({ issuedAt: BEGIN - 300 }))["signature"];
    expect((await lies({}, { signature: older })).code, "of another date").to.equal("PHONE_NOT_SIGNED");
  });

  it("is rejected with a missing, truncated or malformed signature", async () => {
    const { signature } = await registry.mapping();
    for (const bad of [undefined, null, "", "0x", "0x0", 5, [signature], `0x${"ab".repeat(9000)}`])
      expect((await lies({}, { signature: bad })).code, String(bad).slice(0, 20)).to.equal("PHONE_ANSWER_INVALID");
    for (const bad of ["0x00", String(signature).slice(0, -4), `${String(signature)}00`])
      expect((await lies({}, { signature: bad })).code, bad.slice(0, 20)).to.equal("PHONE_NOT_SIGNED");
  });

  it("is rejected if it was signed for another number, chain, pool or registry", async () => {
    const foreign: [Linked, string][] = [
      [{ phone: "+14155550124" }, "phoneNumber"],
      [{ phone: "" }, "phoneNumber"],
      [{ chainId: 1n }, "chainId"],
      [{ pool: `0x${"91".repeat(20)}` }, "pool"],
      [{ service: "https://phones.example/zk" }, "service"],
      [{ service: `${registry.url}/` }, "service"],
      [{ service: "" }, "service"],
    ];
    for (const [linked, field] of foreign) {
      const error = await lies(linked);
      expect([error.code, error.details["field"]], field).to.deep.equal(["PHONE_BINDING_FOREIGN", field]);
    }
    // The same fields, changed only in the response, so that the signature does not match.
    for (const [name, value] of [
      ["chainId", "1"],
      ["service", "https://phones.example/zk"],
      ["phoneNumber", "+14155550124"],
    ] as const)
      expect((await lies({}, { [name]: value })).code).to.match(/^PHONE_(BINDING_FOREIGN|ANSWER_INVALID)$/);
    // Signed for another chain or registry, but the response names ours.
    expect((await lies({ chainId: 1n }, { chainId: "31337" })).code).to.equal("PHONE_NOT_SIGNED");
    expect((await lies({ service: "" }, { service: registry.url })).code).to.equal("PHONE_NOT_SIGNED");
  });

  it("is rejected if it has expired or is dated in the future", async () => {
    const old = BEGIN - 400 * 86_400;
    expect((await lies({ issuedAt: old })).code).to.equal("PHONE_BINDING_EXPIRED");
    expect((await lies({ issuedAt: BEGIN + 900 })).code).to.equal("PHONE_BINDING_EXPIRED");
    registry.serve({ issuedAt: old + 300 });
    expect((await lookUpPhone(wallet, registry.client(), PHONE)).standing, "the control").to.equal("new");
    registry.serve({ issuedAt: BEGIN + 300 });
    expect((await lookUpPhone(wallet, registry.client(), PHONE)).standing, "the next slot").to.equal("new");
  });

  it("is rejected for an unverified number", async () => {
    expect((await lies({}, { verified: false })).code).to.equal("PHONE_UNVERIFIED");
    expect((await lies({}, { verified: "true" })).code).to.equal("SERVICE_ANSWER_INVALID");
  });

  it("is rejected with missing or malformed fields, or the hash of another number", async () => {
    const junk: [string, readonly unknown[]][] = [
      [
        "encryptionPublicKey",
        [undefined, null, "", "0x", keyOf(1).slice(2), `0x${"ff".repeat(64)}`, `0x${"00".repeat(64)}`, 5],
      ],
      ["chainId", [undefined, 31337, "0x7a69", "031337", "1".repeat(79), "-1", ""]],
      ["pool", [undefined, null, "0x", 5]],
      ["service", [undefined, null, 5, "phones.example", `https://${"a".repeat(300)}`]],
      ["issuedAt", [undefined, null, "1800000000", 1_800_000_001, 0.5, -300, 1e20]],
      ["phoneNumber", [undefined, null, 5, "14155550123", "+1 415 555 0123"]],
      ["phoneHash", ["", "00", "0".repeat(64)]],
    ];
    for (const [name, values] of junk)
      for (const value of values)
        expect((await lies({}, { [name]: value })).code, `${name} ${String(value)}`).to.equal("PHONE_ANSWER_INVALID");
    for (const [name, value] of [
      ["wallet", undefined],
      ["wallet", "0x00"],
      ["phoneHash", undefined],
      ["phoneHash", "0".repeat(1000)],
      ["encryptedMapping", "yes"],
    ] as const)
      expect((await lies({}, { [name]: value })).code, `${name} ${String(value)}`).to.equal("SERVICE_ANSWER_INVALID");
    const flip = (letter: string) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase());
    const mistyped = registry.owner.address.replace(/(?<=0x.*)[a-f]/i, flip);
    expect((await lies({}, { wallet: mistyped })).code, "a wrong checksum").to.equal("PHONE_ANSWER_INVALID");
  });

  it("is neither accepted nor rejected if no node can check a contract wallet's signature", async () => {
    const silent = await world.wallet();
    registry.serve({ wallet: `0x${"12".repeat(20)}` });
    const error = await rejection(lookUpPhone(silent, registry.client(), PHONE));
    expect(error.code).to.equal("BINDING_UNCHECKED");
  });

  it("can be requested with a signed lookup", async () => {
    registry.serve();
    const signer = Account.createRandom();
    await lookUpPhone(wallet, registry.client(), PHONE, { signer });
    await lookUpPhone(wallet, registry.client(), PHONE, { signer });
    const [first, second] = registry.asked.map(({ headers }) => headers);
    expect(first!["x-sotto-wallet"]).to.equal(signer.address.toLowerCase());
    expect(Number(first!["x-sotto-deadline"])).to.be.within(BEGIN + 1, BEGIN + 300 + 12);
    expect(first!["x-sotto-nonce"])
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(second!["x-sotto-nonce"]);
    const nothing = registry.asked.length;
    await lookUpPhone(wallet, registry.client(), PHONE);
    expect(registry.asked[nothing]!.headers).to.not.have.property("x-sotto-signature");
  });
});
