import { expect } from "chai";
import { usdc } from "../amounts.ts";
import { type Balance, printBalances } from "../balances.ts";
import type { Screen } from "../terminal.ts";

const balance = (what: string, found: bigint): Balance => ({ what, unit: "USDC", expected: 1_000_000n, found });

describe("demo balances", () => {
  it("are reported if they differ by one base unit", () => {
    const printed: string[] = [];
    const screen: Screen = { width: 120, colours: false, write: (text) => void printed.push(text) };
    const balances = [
      balance("right", 1_000_000n),
      balance("short", 999_999n),
      balance("over", 1_000_001n),
      balance("debt", -1n),
    ];
    expect(printBalances(screen, balances).map(({ what }) => what)).to.deep.equal(["short", "over", "debt"]);
    const lines = printed.join("").split("\n");
    expect(lines[1]).to.match(/^right +1\.00 USDC +1\.00 USDC +exact$/);
    expect(lines[2]).to.match(/^short +1\.00 USDC +0\.999999 USDC +DIFFERENT$/);
    expect(lines[4]).to.match(/^debt +1\.00 USDC +-1 USDC +DIFFERENT$/);
  });

  it("are written with at least two decimals", () => {
    expect(usdc(0n)).to.equal("0.00 USDC");
    expect(usdc(50_000n)).to.equal("0.05 USDC");
    expect(usdc(1n)).to.equal("0.000001 USDC");
    expect(usdc(25_000_000n)).to.equal("25.00 USDC");
  });
});
