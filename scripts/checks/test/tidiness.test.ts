import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { missingFiles, problems, treeProblems } from "../tidiness.ts";

const found = (path: string, text: string) => problems(path, Buffer.from(text));
// Concatenated, so that this file itself passes the check.
const note = ["TO", "DO"].join("");
const only = ["on", "ly"].join("");
const skip = ["sk", "ip"].join("");

describe("tidiness", function () {
  slow(this, "processes start and end");
  it("names the file, the line and the text", () => {
    expect(found("a.ts", `first\n// ${note}: later\n`)).to.deep.equal([
      `a.ts:2: a note to do something later: // ${note}: later`,
    ]);
  });

  it("finds disabled tests, but only in test files", () => {
    for (const line of [`it.${only}("x")`, `describe.${skip}("x")`, `this.${skip}()`, `x${"it"}("x")`]) {
      expect(found("a.test.ts", line), line).to.have.lengthOf(1);
      expect(found("a.ts", line), line).to.have.lengthOf(0);
    }
  });

  it("finds paths outside the checkout", () => {
    for (const path of ["..", "../.."]) expect(found("a.md", `${path}/${"shared"}/x`)).to.have.lengthOf(1);
    expect(found("a.md", "/Users" + "/someone/x")).to.have.lengthOf(1);
  });

  it("finds checks of packages that refuse bytes of another realm", () => {
    for (const type of ["Uint8Array", "ArrayBuffer", "Buffer"]) {
      expect(found("packages/protocol/src/keys.ts", `if (!(seed instanceof ${type})) return;`), type).to.have.lengthOf(
        1,
      );
      expect(found("packages/protocol/test/keys.test.ts", `key instanceof ${type}`), type).to.have.lengthOf(0);
    }
    for (const line of ["isBytes(seed)", "error instanceof SottoError", "bytes: Uint8Array"])
      expect(found("packages/protocol/src/keys.ts", line), line).to.have.lengthOf(0);
  });

  it("accepts texts that only look similar", () => {
    expect(
      found("a.test.ts", `this.skipped(); fits(1); audit.only; mastodon\nimport '../${"shared"}.ts'`),
    ).to.have.lengthOf(0);
  });

  it("rejects large files, and does not read binaries as text", () => {
    expect(problems("a.bin", Buffer.alloc(1024 * 1024 + 1))).to.have.lengthOf(1);
    expect(problems("a.bin", Buffer.alloc(1024 * 1024))).to.have.lengthOf(0);
    expect(problems("a.bin", Buffer.from(`\0${note}`))).to.have.lengthOf(0);
  });

  it("compares the tree in docs/architecture.md with the folders", () => {
    const lines = [
      "circuits/    circuits",
      "packages/",
      "  one/    a package",
      "    http/   routes",
      "scripts/",
      "  old/   gone",
    ];
    const architecture = `# Architecture\n\n\`\`\`\n${lines.join("\n")}\n\`\`\`\n`;
    const files = ["circuits/a.circom", "packages/one/src/http/a.ts", "packages/one/src/index.ts", "scripts/run.mjs"];
    expect(treeProblems([...files, "scripts/old/a.ts"], architecture)).to.deep.equal([]);
    expect(treeProblems([...files, "packages/one/src/store/a.ts", "test/two/a.ts"], architecture)).to.deep.equal([
      "docs/architecture.md lacks packages/one/store",
      "docs/architecture.md lacks test/two",
      "docs/architecture.md names scripts/old, which does not exist",
    ]);
  });

  it("finds files that documents name, but that do not exist", () => {
    const text =
      "See `test/a.test.ts`, `test/b.test.ts`, `test/NAME.test.ts`, `circuits/build/a.r1cs`, `test/..` and `npm test`.";
    const paths = new Set(["docs/a.md", "test/a.test.ts"]);
    expect(missingFiles("docs/a.md", text, paths)).to.deep.equal([
      "docs/a.md names test/b.test.ts, which does not exist",
    ]);
    expect(missingFiles("docs/a.md", text, new Set([...paths, "test/b.test.ts"]))).to.deep.equal([]);
  });
});
