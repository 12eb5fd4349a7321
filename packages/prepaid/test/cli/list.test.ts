import { expect } from "chai";
import { textOf } from "../../src/cli/list.ts";
import type { PrepaidCharge, PrepaidOrigin } from "../../src/client/list.ts";

const ORIGIN = "https://data.example";

describe("sotto prepaid list", () => {
  const text = (count: number) => {
    const pack = { id: "1", origin: ORIGIN, value: 10_000n, epoch: "2026-12", count, left: count, created: 0 };
    const found: PrepaidOrigin = {
      origin: ORIGIN,
      unspent: 0n,
      stopped: undefined,
      packs: [{ ...pack, state: "ready", restored: false }],
      change: [{ value: 2_000n, epoch: "2026-12", count }],
      underway: 0n,
    };
    const request = {
      id: "1",
      wallet: "0x12",
      at: 0,
      origin: ORIGIN,
      method: "GET",
      target: "/",
      units: {},
      receipt: "{}",
    };
    const charges = new Array<PrepaidCharge>(count).fill({ ...request, charge: 3_000n, change: 7_000n });
    return textOf([found], charges, { decimals: 6, symbol: "USDC" });
  };

  it("shows tokens, change and charges, one in the singular", () => {
    expect(text(1)).to.deep.equal([
      "https://data.example  ready   1 of 1 token  0.01 USDC   2026-12",
      "https://data.example  change  1 token       0.002 USDC  2026-12",
      "https://data.example charged 0.003 USDC for 1 request",
    ]);
    expect(text(2).join("\n")).to.include("2 of 2 tokens").and.include("  2 tokens ").and.include("for 2 requests");
  });
});
