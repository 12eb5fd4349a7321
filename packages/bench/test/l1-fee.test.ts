import { expect } from "chai";
import { getBytes } from "ethers";
import { estimatedSizeScaled, fastLzSize, l1Fee } from "../src/inputs/l1-fee.ts";

/** The transactions that op-geth's own tests compress (core/types/rollup_cost_test.go). */
const EMPTY = "0xdd80808094095e7baea6a6c7c4c2dfeb977efac326af552d878080808080";
const CONTRACT_CALL =
  "0x02f901550a758302df1483be21b88304743f94f80e51afb613d764fa61751affd3313c190a86bb870151bd62fd12adb8" +
  "e41ef24f3f000000000000000000000000000000000000000000000000000000000000006e000000000000000000000000af88d065e77c8c" +
  "c2239327c5edb3a432268e5831000000000000000000000000000000000000000000000000000000000003c1e50000000000000000000000" +
  "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000a0000000" +
  "00000000000000000000000000000000000000000000000000000000148c89ed219d02f1a5be012c689b4f5b731827bebe00000000000000" +
  "0000000000c001a033fd89cb37c31b2cba46b6466e040c61fc9b2a3675a7f5f493ebd5ad77c497f8a07cdf65680e238392693019b4092f61" +
  "0222e71b7cec06449cb922b93b6a12744e";

describe("the L1 data fee of an OP-stack chain", () => {
  it("compresses as op-geth does", () => {
    expect(fastLzSize(new Uint8Array())).to.equal(0);
    expect(fastLzSize(new Uint8Array(1_000))).to.equal(21);
    expect(fastLzSize(new Uint8Array(1_000).fill(1))).to.equal(21);
    expect(fastLzSize(getBytes(EMPTY))).to.equal(31);
    expect(fastLzSize(getBytes(CONTRACT_CALL))).to.equal(202);
  });

  it("is the formula of the Fjord upgrade", () => {
    expect(estimatedSizeScaled(getBytes(EMPTY)), "the minimum of 100 bytes").to.equal(100_000_000n);
    expect(estimatedSizeScaled(getBytes(CONTRACT_CALL))).to.equal(202n * 836_500n - 42_585_600n);
    const prices = { baseFee: 1_000_000_000n, blobBaseFee: 10_000_000n, baseFeeScalar: 2n, blobBaseFeeScalar: 3n };
    // 100 bytes, at (2 * 16 * 10^9 + 3 * 10^7) / 10^6 wei each.
    expect(l1Fee(getBytes(EMPTY), prices)).to.equal((100n * 32_030_000_000n) / 1_000_000n);
  });
});
