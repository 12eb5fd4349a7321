import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { type GasFigures, measureGas } from "@sotto/test-pool/hardhat/gas";
import { expect } from "chai";

const snapshotPath = join(import.meta.dirname, "gas.snapshot.json");

/** Promised maximum gas. The calldata of random proofs varies by a few zero bytes, each of which saves 12 gas. */
const LIMITS: Partial<Record<keyof GasFigures, number>> = {
  "settle.1": 341_000,
  "settle.1.reused": 324_000,
  "settle.8": 8 * 122_000,
  "settle.64": 64 * 91_000,
  "append.64": 320_000,
  "withdraw.8": 500_000,
  "deposit.approve": 170_000,
  "deposit.eip3009": 170_000,
};

describe("gas", function () {
  slow(this, "transactions and proofs on a chain in this process");
  let figures: GasFigures;

  before(async () => {
    figures = await measureGas();
  });

  for (const [name, limit] of Object.entries(LIMITS)) {
    it(`${name} costs at most ${limit} gas`, () => {
      expect(figures[name as keyof GasFigures].gas).to.be.within(21_000, limit);
    });
  }

  it("equals the snapshot exactly (SOTTO_UPDATE_GAS=1 rewrites it)", () => {
    const measured = Object.fromEntries(Object.entries(figures).map(([name, { execution }]) => [name, execution]));
    const content = {
      "//": "Gas of each transaction without its calldata. Written by SOTTO_UPDATE_GAS=1 hardhat test mocha test/contracts/gas.test.ts",
      ...measured,
    };
    if (process.env["SOTTO_UPDATE_GAS"]) writeFileSync(snapshotPath, `${JSON.stringify(content, null, 2)}\n`);
    expect(existsSync(snapshotPath), "gas.snapshot.json is missing").to.equal(true);
    expect(measured).to.deep.equal(omitComment(JSON.parse(readFileSync(snapshotPath, "utf8"))));
  });
});

function omitComment(snapshot: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(snapshot).filter(([name]) => name !== "//"));
}
