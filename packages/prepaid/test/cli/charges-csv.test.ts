import { expect } from "chai";
import { DeadHome } from "../../../cli-kit/test/support/run.ts";
import { chargesCsv } from "../../src/cli/list.ts";
import { prepaidCommands } from "../../src/cli.ts";
import type { PrepaidCharge } from "../../src/client/list.ts";

const CHARGE: PrepaidCharge = {
  id: "1",
  wallet: "0x12",
  at: Date.UTC(2026, 11, 1),
  origin: "https://data.example",
  method: "GET",
  target: "/a?b=1,2",
  units: { input: 3n, output: 4n },
  charge: 3_000n,
  change: 7_000n,
  receipt: "{}",
};

describe("charges as CSV", () => {
  it("have a line for each request, and no cell that a spreadsheet runs", () => {
    const [head, first, second] = chargesCsv([CHARGE, { ...CHARGE, target: "=1+1" }], { decimals: 6 }).split("\r\n");
    expect(head).to.equal("at,origin,method,target,units,amount,decimal,change");
    const cells = ["2026-12-01T00:00:00.000Z", "https://data.example", "GET", '"/a?b=1,2"', "input=3 output=4"];
    expect(first).to.equal([...cells, "3000", "0.003", "7000"].join(","));
    expect(second).to.include(",'=1+1,");
  });

  it("cannot be combined with --json", async () => {
    const home = new DeadHome([prepaidCommands]);
    const ended = await home.run(["prepaid", "list", "--csv", "--json"]);
    expect(ended.stderr).to.include("--csv and --json cannot be combined");
  });
});
