import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { TypedDataEncoder, Wallet } from "ethers";
import fc from "fast-check";
import {
  assertBinding,
  assertBindingFresh,
  assertBindingTime,
  assertIssuedAt,
  BINDING_LEAD_SECONDS,
  BINDING_LIFETIME_SECONDS,
  BINDING_MAX_AGE_SECONDS,
  bindingDigest,
  bindingRequest,
  bindingSlots,
  bindingTypedData,
  deriveKeys,
  MAX_SERVICE_LENGTH,
  type ShieldedAddressBinding,
} from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";
import { binding } from "./support/binding.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const keys = [1, 2, 3].map((fill) => deriveKeys(new Uint8Array(32).fill(fill), DEPLOYMENT).shieldedAddress());
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString("hex")}` as const);
const digits = fc.stringMatching(/^[1-9][0-9]{4,14}$/);
const anyBinding: fc.Arbitrary<ShieldedAddressBinding> = fc.record({
  phone: fc.oneof(
    fc.constant(""),
    digits.map((number) => `+${number}`),
  ),
  wallet: address,
  key: fc.constantFrom(...keys),
  chainId: fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }),
  pool: address,
  service: fc.constantFrom("", "https://a.example", "http://127.0.0.1:8080/zk", `https://${"x".repeat(248)}`),
  issuedAt: fc.nat({ max: 28_800_000_000 }).map((slot) => slot * 300),
});

/** Values that are invalid in every field. */
const JUNK: readonly unknown[] = [
  undefined,
  null,
  true,
  {},
  [],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  0.5,
  1e21,
  "\u0000",
  "٣",
];

describe("a shielded address binding", () => {
  it("has the EIP-712 digest that ethers computes, in both forms of the typed data", () => {
    fc.assert(
      fc.property(anyBinding, (value) => {
        const { domain, types, primaryType, message } = bindingTypedData(value);
        expect(bindingDigest(value)).to.equal(TypedDataEncoder.hash(domain, types, message));
        const request = JSON.parse(bindingRequest(value));
        expect(request.types.EIP712Domain.map(({ name }: { name: string }) => name)).to.deep.equal(["name", "version"]);
        expect(TypedDataEncoder.hash(request.domain, types, request.message)).to.equal(bindingDigest(value));
        expect(TypedDataEncoder.getPrimaryType(types)).to.equal(primaryType);
        expect(request.primaryType).to.equal(primaryType);
        // The request that ethers itself would send to a wallet.
        const payload = TypedDataEncoder.getPayload(domain, types, message);
        expect(request).to.deep.equal({ ...payload, message });
      }),
      runs(100),
    );
  });

  it("has a different digest if any field changes", () => {
    const others: Partial<ShieldedAddressBinding>[] = [
      { phone: "" },
      { phone: "+14155550101" },
      { wallet: binding.pool },
      { key: keys[0]! },
      { chainId: 31338n },
      { pool: binding.wallet },
      { service: "" },
      { service: `${binding.service}/` },
      { issuedAt: binding.issuedAt + 300 },
    ];
    const digests = [binding, ...others.map((change) => ({ ...binding, ...change }))].map(bindingDigest);
    expect(new Set(digests).size).to.equal(digests.length);
    const upper = { ...binding, wallet: binding.wallet.toUpperCase().replace("0X", "0x") as `0x${string}` };
    expect(bindingDigest(upper), "spelling does not count").to.equal(bindingDigest(binding));
  });

  it("returns fresh typed data each time, so that mutation has no effect", () => {
    const first = bindingTypedData(binding);
    first.types.ShieldedAddressBinding.pop();
    (first.domain as { name: string }).name = "other";
    expect(bindingTypedData(binding).types.ShieldedAddressBinding).to.have.length(7);
    expect(TypedDataEncoder.hashDomain(bindingTypedData(binding).domain)).to.not.equal(
      TypedDataEncoder.hashDomain(first.domain),
    );
  });

  const bad: Record<keyof ShieldedAddressBinding, readonly unknown[]> = {
    phone: [
      ...["+", "+0123456", "14155550177", "+1415555010a", "+1 415 555 0100", "+1234", `+1${"0".repeat(15)}`],
      ...["+14155550177\n", "+१४१५५५५०१००", "＋14155550177", 14155550177],
    ],
    wallet: ["", "0x", binding.wallet.slice(0, -1), `${binding.wallet}0`, Wallet.createRandom().address.slice(2), 5n],
    key: ["", binding.key.slice(2), binding.key.slice(0, -2), `${binding.key}00`, binding.key.toUpperCase()],
    chainId: ["31337", 31337, -1n, 1n << 256n],
    pool: ["", "0x", binding.pool.slice(0, -1), `${binding.pool}0`],
    service: [
      ...["phones.example", "ftp://a.example", "https://", "https://a b", "https://a.example\n", "javascript://x"],
      ...["https://раypal.example", "https://a\u202eb.example", `https://${"x".repeat(MAX_SERVICE_LENGTH - 7)}`],
    ],
    issuedAt: [-300, 1, 299, 1_800_000_001, 8_640_000_000_300, "1800000000", 1_800_000_000n],
  };
  for (const [name, values] of Object.entries(bad)) {
    it(`is rejected with a wrong ${name}`, () => {
      for (const value of [...JUNK, ...values]) {
        const error = expectCode("BINDING_INVALID", () => assertBinding({ ...binding, [name]: value }));
        expectCode("BINDING_INVALID", () => bindingTypedData({ ...binding, [name]: value }));
        expectCode("BINDING_INVALID", () => bindingDigest({ ...binding, [name]: value } as never));
        if (name === "phone" && String(value).length > 5) expect(error.message).to.not.include(String(value));
      }
      const { [name as "phone"]: _, ...rest } = binding;
      expectCode("BINDING_INVALID", () => assertBinding(rest));
    });
  }

  it("is rejected if its key is not a valid shielded address, before anything is encrypted to it", () => {
    const tag = binding.key.slice(66);
    const identity = `0x01${"00".repeat(31)}${tag}`;
    const noPoint = `0x02${"00".repeat(31)}${tag}`;
    for (const key of [identity, noPoint, `0x${"ff".repeat(64)}`])
      expectCode("BINDING_INVALID", () => assertBinding({ ...binding, key }), /shielded address/);
  });

  it("is returned in lower case, without unknown fields", () => {
    const wallet = Wallet.createRandom().address;
    const read = assertBinding({ ...binding, wallet, extra: 1 });
    expect(read).to.deep.equal({ ...binding, wallet: wallet.toLowerCase() });
    for (const junk of [null, undefined, "", 5, []]) expectCode("BINDING_INVALID", () => assertBinding(junk));
  });

  it("is checked once: the checked binding cannot change, and a copy of it is checked again", () => {
    const read = assertBinding(binding);
    expect(assertBinding(read)).to.equal(read);
    expect(() => Object.assign(read, { issuedAt: 1 })).to.throw(TypeError);
    expectCode("BINDING_INVALID", () => assertBinding({ ...read, issuedAt: 1 }));
  });
});

describe("the age of a binding", () => {
  const now = 1_800_000_150_000;
  const at = (issuedAt: number) => ({ ...binding, issuedAt });

  it("is measured in slots: the current slot first, then its neighbours", () => {
    expect(bindingSlots(now)).to.deep.equal([1_800_000_000, 1_799_999_700, 1_800_000_300]);
    expect(bindingSlots(1_800_000_000_000)[0]).to.equal(1_800_000_000);
    expect(bindingSlots(1_799_999_999_999)[0]).to.equal(1_799_999_700);
    expect(bindingSlots(0)).to.deep.equal([0, 300]);
    for (const slot of bindingSlots(now)) expect(assertIssuedAt(slot)).to.equal(slot);
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      expectCode("INVALID_INTEGER", () => bindingSlots(bad));
  });

  it("is at most 400 days", () => {
    assertBindingTime(at(1_800_000_000), now);
    const end = (1_800_000_000 + BINDING_LIFETIME_SECONDS) * 1000;
    assertBindingTime(at(1_800_000_000), end - 1);
    expectCode("BINDING_EXPIRED", () => assertBindingTime(at(1_800_000_000), end));
    expect(BINDING_LIFETIME_SECONDS).to.equal(34_560_000);
  });

  it("is at most one day when linking", () => {
    const end = (1_800_000_000 + BINDING_MAX_AGE_SECONDS) * 1000;
    assertBindingFresh(at(1_800_000_000), end);
    expectCode("BINDING_STALE", () => assertBindingFresh(at(1_800_000_000), end + 1));
  });

  it("may be in the future by at most one slot and 30 s", () => {
    const earliest = (1_800_000_000 - BINDING_LEAD_SECONDS) * 1000;
    for (const check of [assertBindingTime, assertBindingFresh]) {
      check(at(1_800_000_000), earliest);
      expectCode("BINDING_FROM_THE_FUTURE", () => check(at(1_800_000_000), earliest - 1));
      for (const slot of bindingSlots(now)) check(at(slot), now);
      for (const bad of [Number.NaN, -300, 1.5, "1800000000", undefined])
        expectCode("BINDING_INVALID", () => check({ issuedAt: bad as number }, now));
      expectCode("INVALID_INTEGER", () => check(at(1_800_000_000), Number.NaN));
    }
  });
});
