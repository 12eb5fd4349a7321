import { join } from "node:path";
import { runReadme } from "@sotto/test-kit/readme";
import { expect } from "chai";

describe("the README", () => {
  it("contains a code block that runs", async () => {
    const readme = join(import.meta.dirname, "..", "README.md");
    const printed = await runReadme(readme, { "@sotto/prepaid": import.meta.resolve("../src/index.ts") });
    expect(printed).to.deep.equal([["X-Payment-Token: 472 characters, of this key: true"]]);
  });
});
