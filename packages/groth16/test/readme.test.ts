import { join } from "node:path";
import { runReadme } from "@sotto/test-kit/readme";
import { slow } from "@sotto/test-kit/slow";
import { buildToy } from "@sotto/test-kit/toy";
import { assert } from "chai";

describe("the README", function () {
  slow(this, "a circuit is compiled, and proofs made");

  it("verifies, proves and prepares in code blocks that run", async () => {
    const readme = join(import.meta.dirname, "..", "README.md");
    const before = process.cwd();
    // The files that the blocks read.
    process.chdir(await buildToy(import.meta.dirname));
    try {
      const printed = await runReadme(readme, { "@sotto/groth16": import.meta.resolve("../src/index.ts") });
      const expected = [
        [true, "pi_a,pi_b,pi_c,protocol,curve"],
        [true, false, "PROOF_COORDINATE_RANGE"],
        [true, "210,43", true],
      ];
      assert.deepEqual(printed as unknown[][], expected);
    } finally {
      process.chdir(before);
    }
  });
});
