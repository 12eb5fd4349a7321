import { join } from "node:path";
import { runReadme } from "@sotto/test-kit/readme";
import { expect } from "chai";

describe("the README", () => {
  it("contains code blocks that each run on their own", async () => {
    const readme = join(import.meta.dirname, "..", "README.md");
    const printed = await runReadme(readme, { "@sotto/protocol": import.meta.resolve("../src/index.ts") });
    expect(printed).to.deep.equal([
      ["the merchant reads 1.25 USDC"],
      ["100000 base units to an address its wallet signed"],
    ]);
  });
});
