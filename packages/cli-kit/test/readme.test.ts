import { join } from "node:path";
import { runReadme } from "@sotto/test-kit/readme";
import { expect } from "chai";

describe("the README", () => {
  it("contains a set of commands that runs", async () => {
    const readme = join(import.meta.dirname, "..", "README.md");
    const printed = await runReadme(readme, { "@sotto/cli-kit": import.meta.resolve("../src/index.ts") });
    expect(printed).to.deep.equal([["HELLO ADA", "exit code 0"]]);
  });
});
