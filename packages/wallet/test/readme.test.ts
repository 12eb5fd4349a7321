import { join } from "node:path";
import { runReadme } from "@sotto/test-kit/readme";
import { expect } from "chai";

describe("README examples", () => {
  it("run", async () => {
    const printed = await runReadme(join(import.meta.dirname, "..", "README.md"), {});
    expect(printed.length).to.equal(1);
    expect(printed[0]).to.have.lengthOf(2);
    expect(printed[0]![0]).to.match(/^24 words, paid at 0x[0-9a-f]{128}$/);
    expect(printed[0]![1]!.split(" + ")).to.have.lengthOf(4);
  });
});
