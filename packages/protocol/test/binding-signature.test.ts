import { expect } from "chai";
import { AbiCoder, concat, Signature, verifyTypedData, Wallet } from "ethers";
import {
  bindingTypedData,
  checkBinding,
  type EthCall,
  MAX_SIGNATURE_BYTES,
  normalizeSignature,
  type ShieldedAddressBinding,
  SottoError,
  verifyBindingSignature,
} from "../src/index.ts";
import { binding, owner, sign } from "./support/binding.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const REFUSED = `0x${"00".repeat(32)}`;
const hex32 = (value: bigint) => value.toString(16).padStart(64, "0");

/** A node of a chain whose contracts accept no signature; it counts the calls. */
function refusing(): EthCall & { asked: number } {
  const call = Object.assign(
    async () => {
      call.asked++;
      return REFUSED;
    },
    { asked: 0 },
  );
  return call;
}

const refused = async (of: ShieldedAddressBinding, signature: unknown, call: EthCall = refusing()) => {
  const error = await verifyBindingSignature(of, signature as string, call).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(SottoError);
  return (error as SottoError).code;
};

describe("the check of a binding", () => {
  const now = binding.issuedAt * 1000;

  it("returns why a binding is not valid, and nothing if it is", async () => {
    const signature = await sign(binding);
    const check = (value: unknown, at = now, of = signature) => checkBinding(value, of, refusing(), at);
    expect(await check(binding)).to.equal(undefined);
    expect(await check({ ...binding, phone: "" })).to.match(/did not sign/);
    expect(await check(binding, now + 401 * 86_400_000)).to.match(/400 days/);
    expect(await check(binding, now - 3_600_000)).to.match(/in the future/);
    expect(await check({ ...binding, key: "0x" })).to.match(/not a binding/);
    expect(await check(binding, now, "0x1")).to.match(/hex/);
  });

  it("throws if no node answers, because that says nothing of the signer", async () => {
    const other = await sign(binding, new Wallet(`0x${"43".repeat(32)}`));
    const unreachable = () => Promise.reject(new Error("unreachable"));
    const error = await checkBinding(binding, other, unreachable, now).catch((cause: unknown) => cause);
    expect(error).to.be.instanceOf(SottoError).with.property("code", "BINDING_UNCHECKED");
  });
});

describe("an account's signature", () => {
  it("is accepted in each form, without a call to the chain", async () => {
    for (let i = 0; i < 12; i++) {
      const of = { ...binding, issuedAt: binding.issuedAt + 300 * i };
      const signature = Signature.from(await sign(of));
      const { domain, types, message } = bindingTypedData(of);
      expect(verifyTypedData(domain, types, message, signature).toLowerCase()).to.equal(of.wallet);
      const body = signature.r + signature.s.slice(2);
      const forms = [
        signature.serialized,
        signature.compactSerialized,
        body + (signature.v - 27).toString(16).padStart(2, "0"),
        `0x${signature.serialized.slice(2).toUpperCase()}`,
      ];
      const call = refusing();
      for (const form of forms) expect(await verifyBindingSignature(of, form, call), form).to.equal(true);
      expect(call.asked).to.equal(0);
    }
  });

  it("is rejected from another account or for another binding", async () => {
    const signature = await sign(binding);
    expect(
      await verifyBindingSignature(binding, await sign(binding, new Wallet(`0x${"43".repeat(32)}`)), refusing()),
    ).to.equal(false);
    const others: Partial<ShieldedAddressBinding>[] = [
      ...[{ phone: "" }, { chainId: 1n }, { pool: binding.wallet }, { service: "" }, { issuedAt: 300 }],
      { wallet: binding.pool },
      { wallet: `0x${"00".repeat(20)}` },
    ];
    for (const change of others)
      expect(await verifyBindingSignature({ ...binding, ...change }, signature, refusing())).to.equal(false);
  });

  it("is rejected in malleated forms: high s, the other v, other lengths", async () => {
    const { r, s, v } = Signature.from(await sign(binding));
    const high = hex32(ORDER - BigInt(s));
    const flipped = v === 27 ? "1c" : "1b";
    const same = v === 27 ? "1b" : "1c";
    const bad = [
      ["high s", r + high + flipped],
      ["high s and the same v", r + high + same],
      ["the other v", r + s.slice(2) + flipped],
      ["v of 29", `${r}${s.slice(2)}1d`],
      ["v of EIP-155", `${r}${s.slice(2)}25`],
      ["a byte more", `${r}${s.slice(2)}${same}00`],
      ["a byte less", (r + s.slice(2)).slice(0, -2)],
      ["r of 0", `0x${"00".repeat(32)}${s.slice(2)}${same}`],
      ["s of 0", `${r}${"00".repeat(32)}${same}`],
      ["r of the order", `0x${hex32(ORDER)}${s.slice(2)}${same}`],
      ["r beyond the order", `0x${"ff".repeat(32)}${s.slice(2)}${same}`],
      ["s beyond the order", `${r}${"ff".repeat(32)}${same}`],
      ["an r that is no abscissa", `0x${hex32(5n)}${s.slice(2)}${same}`],
      ["one byte", "0x00"],
    ] as const;
    for (const [what, signature] of bad)
      expect(await verifyBindingSignature(binding, signature, refusing()), what).to.equal(false);
  });
});

describe("signatures of both parities", () => {
  it("are rejected with a v other than 0, 1, 27 and 28, and with other lengths", async () => {
    const parities = new Set<number>();
    for (let i = 0; i < 8; i++) {
      const of = { ...binding, issuedAt: binding.issuedAt + 300 * i };
      const { r, s, v } = Signature.from(await sign(of));
      parities.add(v);
      const body = r + s.slice(2);
      for (let bad = 0; bad < 256; bad++) {
        if (bad === v || bad === v - 27) continue;
        const signature = body + bad.toString(16).padStart(2, "0");
        expect(await verifyBindingSignature(of, signature, refusing()), `v ${bad}`).to.equal(false);
      }
      for (const tail of ["0000", `${(v - 27).toString(16).padStart(2, "0")}00`, "00".repeat(100)])
        expect(await verifyBindingSignature(of, body + tail, refusing()), tail).to.equal(false);
      expect(await verifyBindingSignature(of, body.slice(0, -2), refusing()), "63 bytes").to.equal(false);
    }
    expect([...parities].sort()).to.deep.equal([27, 28]);
  });
});

describe("a signature's form", () => {
  it("must be hex of at least one byte and at most the maximum", async () => {
    const longest = `0x${"00".repeat(MAX_SIGNATURE_BYTES)}`;
    expect(normalizeSignature(longest)).to.equal(longest);
    expect(normalizeSignature("0xAb")).to.equal("0xab");
    const bad = [
      ...["", "0x", "0x0", "0xgg", "00", "0X00", "0x00 ", "0x00\n", "0x٣٣"],
      `${longest}00`,
      null,
      5,
      5n,
      {},
      ["0x00"],
    ];
    for (const signature of bad)
      expect(await refused(binding, signature), String(signature).slice(0, 20)).to.equal("BINDING_SIGNATURE_INVALID");
    expect(await refused({ ...binding, phone: "x" }, "0x00")).to.equal("BINDING_INVALID");
    expect(await refused(null as never, "0x00")).to.equal("BINDING_INVALID");
  });

  it("is rejected without a call if wrapped incorrectly", async () => {
    const magic = `0x${"6492".repeat(16)}`;
    const good = AbiCoder.defaultAbiCoder().encode(["address", "bytes", "bytes"], [owner.address, "0x1234", "0x5678"]);
    const word = (index: number, value: string) =>
      good.slice(0, 2 + 64 * index) + value + good.slice(2 + 64 * (index + 1));
    const asked = refusing();
    expect(await verifyBindingSignature(binding, concat([good, magic]), asked)).to.equal(false);
    expect(asked.asked, "the control").to.equal(1);
    const bad = [
      magic,
      concat(["0x00", magic]),
      concat([good.slice(0, 2 + 64 * 2), magic]),
      concat([`0x${"00".repeat(64)}`, magic]),
      concat([word(0, "ff".repeat(32)), magic]),
      concat([word(0, `01${"00".repeat(31)}`), magic]),
      concat([word(1, "ff".repeat(32)), magic]),
      concat([word(1, hex32(BigInt(good.length / 2))), magic]),
      concat([word(2, hex32(2n ** 53n)), magic]),
      concat([word(3, "ff".repeat(32)), magic]),
      concat([word(3, hex32(1000n)), magic]),
      concat([word(5, hex32(33n)), magic]),
    ];
    const silent = refusing();
    for (const signature of bad)
      expect(await verifyBindingSignature(binding, signature, silent), signature).to.equal(false);
    expect(silent.asked).to.equal(0);
  });

  it("is reported as unchecked if the node fails or gives an invalid answer", async () => {
    const failing: EthCall = async () => {
      throw new Error("no node");
    };
    expect(await refused(binding, "0x00", failing)).to.equal("BINDING_UNCHECKED");
    const one = hex32(1n);
    for (const answer of ["0x", "0x1", "0x01", one, `0x${hex32(2n)}`, `0x${one}${one}`, "", null, 1, true, {}])
      expect(await refused(binding, "0x00", async () => answer as string), String(answer)).to.equal(
        "BINDING_UNCHECKED",
      );
    expect(await verifyBindingSignature(binding, "0x00", async () => `0x${one}`), "the control").to.equal(true);
    expect(await refused(binding, "0x00", null as never)).to.equal("INVALID_ARGUMENT");
  });
});
