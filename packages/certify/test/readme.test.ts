import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";

const folder = join(import.meta.dirname, "..");
const program = join(folder, "dist", "main.js");
/** The circuits and outputs of the section "The verdicts" in their order. */
const blocks = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(
  ([, language, text]) => (language === "" ? [text as string] : []),
);
const [division, certified, refuted, doubleRoot, unknown] = blocks as [string, string, string, string, string];

/** What the program prints about a template in a file of its own. */
function outputOf(name: string, template: string): string {
  const path = temporaryFolder("certify-readme");
  const main = /template (\w+)/.exec(template)?.[1];
  writeFileSync(join(path, name), `pragma circom 2.0.0;\n${template}component main = ${main}();\n`);
  return spawnSync(process.execPath, [program, name], { cwd: path, encoding: "utf8" }).stdout;
}

describe("the README's examples", function () {
  slow(this, "circuits are compiled by new processes");

  it("have the outputs that it shows", () => {
    const free = division
      .split("\n")
      .filter((line) => !line.includes("inverse"))
      .join("\n");
    expect(outputOf("division.circom", division)).to.equal(certified);
    expect(outputOf("division.circom", free)).to.equal(refuted);
    expect(outputOf("double.circom", doubleRoot)).to.equal(unknown);
  });
});
