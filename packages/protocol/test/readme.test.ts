import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

const README = join(import.meta.dirname, "..", "README.md");

describe("the README", () => {
  it("contains code blocks that each run on their own", async () => {
    const blocks = [...readFileSync(README, "utf8").matchAll(/```js\n([\s\S]*?)```/g)].map((match) => match[1]!);
    expect(blocks).to.have.length(2);
    // Inside the package, so that the imports resolve.
    const folder = mkdtempSync(join(import.meta.dirname, "readme-"));
    const printed: string[] = [];
    const log = console.log;
    console.log = (text: string) => void printed.push(text);
    try {
      for (const [index, block] of blocks.entries()) {
        const file = join(folder, `${index}.mjs`);
        writeFileSync(
          file,
          block.replaceAll('"@sotto/protocol"', JSON.stringify(import.meta.resolve("../src/index.ts"))),
        );
        await import(file);
      }
    } finally {
      console.log = log;
      rmSync(folder, { recursive: true });
    }
    expect(printed).to.deep.equal([
      "the merchant reads 1.25 USDC",
      "100000 base units to an address its wallet signed",
    ]);
  });
});
