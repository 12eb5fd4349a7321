import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { SCALAR_MODULUS } from "../../src/setup/keys/field.ts";
import { forge, loadTrapdoor, proveWithTrapdoor, type Trapdoor } from "../../src/setup/trapdoor.ts";

describe("trapdoor prover", function () {
  slow(this, "keys, circuits and ceremonies are made");
  const trapdoor: Trapdoor = { alpha: 2n, beta: 3n, delta: 5n, ic: [7n, 11n, 13n] };

  it("returns eight coordinates and the signals as decimals", () => {
    const { proof, publicSignals } = forge(trapdoor, [0n, SCALAR_MODULUS - 1n]);
    expect(proof).to.have.length(8);
    for (const word of proof) expect(word).to.match(/^(0|[1-9]\d*)$/);
    expect(publicSignals).to.deep.equal(["0", String(SCALAR_MODULUS - 1n)]);
  });

  for (const [what, signals] of [
    ["a signal too few", [1n]],
    ["a signal too many", [1n, 2n, 3n]],
    ["a signal equal to r", [1n, SCALAR_MODULUS]],
    ["a negative signal", [-1n, 2n]],
  ] as const)
    it(`rejects ${what}`, () => expectRejected("SIGNALS_INVALID", () => forge(trapdoor, signals)));

  it("names the command to run if there is no trapdoor", async () => {
    const { message } = await expectRejected("TRAPDOOR_MISSING", () => proveWithTrapdoor("no_such_circuit", [1n]));
    expect(message).to.include("npm run setup:dev");
  });

  it("rejects an invalid trapdoor file by name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sotto-trapdoor-"));
    try {
      const path = join(folder, "toy.trapdoor.json");
      for (const content of [
        "{",
        "[]",
        '{"alpha":"1","beta":"2","delta":"x","ic":["1"]}',
        '{"alpha":"1","beta":"2","delta":"3"}',
      ]) {
        writeFileSync(path, content);
        expect((await expectRejected("TRAPDOOR_DAMAGED", () => loadTrapdoor("toy", path))).message).to.include(path);
      }
      writeFileSync(path, '{"alpha":"1","beta":"2","delta":"3","ic":["4","5"]}');
      expect(loadTrapdoor("toy", path)).to.deep.equal({ alpha: 1n, beta: 2n, delta: 3n, ic: [4n, 5n] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
