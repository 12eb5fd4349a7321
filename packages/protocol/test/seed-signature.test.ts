import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet } from "ethers";
import { SEED_TYPED_DATA, seedFromSignature } from "../src/index.ts";

describe("a seed from a signature", () => {
  const wallet = new Wallet(`0x${"42".repeat(32)}`);
  const { domain, types, message } = SEED_TYPED_DATA;
  const sign = () => wallet.signTypedData(domain, { SottoSeed: [...types.SottoSeed] }, message);

  it("is the same every time and for both encodings of v", async () => {
    const signature = await sign();
    const seed = seedFromSignature(signature);
    expect(seed).to.have.length(32);
    expect(seedFromSignature(await sign())).to.deep.equal(seed);
    const v = Number.parseInt(signature.slice(-2), 16);
    expect(seedFromSignature(signature.slice(0, -2) + (v - 27).toString(16).padStart(2, "0"))).to.deep.equal(seed);
    const otherSignature = await new Wallet(`0x${"43".repeat(32)}`).signTypedData(
      domain,
      { SottoSeed: [...types.SottoSeed] },
      message,
    );
    expect(seedFromSignature(otherSignature)).to.not.deep.equal(seed);
  });

  it("rejects the other signature with the same r, and malformed ones", async () => {
    const signature = await sign();
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = BigInt(`0x${signature.slice(66, 130)}`);
    const high = (order - s).toString(16).padStart(64, "0");
    const replaceS = (hex: string) => `${signature.slice(0, 66)}${hex}${signature.slice(130)}`;
    expectCode("INVALID_SIGNATURE", () => seedFromSignature(replaceS(high)), /lower half/);
    for (const r of [0n, order, order + 1n]) {
      const replaced = `0x${r.toString(16).padStart(64, "0")}${signature.slice(66)}`;
      expectCode("INVALID_SIGNATURE", () => seedFromSignature(replaced), /from 1/);
    }
    expect(seedFromSignature(replaceS((order / 2n).toString(16)))).to.have.length(32);
    expectCode("INVALID_SIGNATURE", () => seedFromSignature(replaceS((order / 2n + 1n).toString(16))), /lower half/);
    expectCode("INVALID_SIGNATURE", () => seedFromSignature(replaceS("00".repeat(32))), /from 1/);
    expectCode("INVALID_SIGNATURE", () => seedFromSignature(`${signature.slice(0, -2)}05`), /v must be/);
    for (const bad of [signature.slice(0, -2), signature.slice(2), "0x", undefined]) {
      const error = expectCode("INVALID_SIGNATURE", () => seedFromSignature(bad as never), /65 bytes/);
      expect(error.message).to.not.include(signature.slice(10, 30));
    }
  });
});
