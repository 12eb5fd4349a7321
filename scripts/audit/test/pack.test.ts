import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { writePack } from "../pack.ts";
import { codeLines, scopeTable } from "../scope.ts";
import { section } from "../section.ts";

describe("npm run audit:pack", () => {
  it("counts lines of code without comments and empty lines", () => {
    const source = [
      "// a comment",
      "",
      "/** one",
      " * comment",
      " */",
      "uint256 x; // code",
      "  /* short */",
      "return x;",
    ];
    expect(codeLines(source.join("\n"))).to.equal(2);
    const table = scopeTable([{ path: "contracts/A.sol", content: "uint256 x;\n" }]);
    expect(table).to.include("| contracts | 1 | 1 |").and.to.include("| contracts/A.sol | 1 | 1 |");
  });

  it("takes a section with its heading, up to the next one", () => {
    const document = "# A\n\n## B\n\ntext\n\n### C\n\nmore\n\n## D\n\nend\n";
    expect(section(document, "B")).to.equal("## B\n\ntext\n\n### C\n\nmore");
    expect(section(document, "D")).to.equal("## D\n\nend");
    expect(() => section(document, "E")).to.throw('no section "E"');
  });

  it("lists every part and only files that it wrote, and names what was not run", () => {
    const folder = temporaryFolder("audit");
    const { missing } = writePack(folder);
    const index = readFileSync(join(folder, "README.md"), "utf8");
    const links = [...index.matchAll(/\]\(([^)]+)\)/g)].map(([, name]) => name!);
    expect(links).to.include.members([
      "scope.md",
      "properties.md",
      "threat-model.md",
      "assumptions.md",
      "known-issues.md",
    ]);
    expect(links.filter((name) => !existsSync(join(folder, name)))).to.deep.equal([]);
    expect(readdirSync(folder).toSorted()).to.deep.equal(["README.md", ...links].toSorted());
    for (const { what } of missing) expect(index).to.include(`| ${what} | not included: it was not run |`);
    expect(readFileSync(join(folder, "scope.md"), "utf8")).to.include("| contracts/ShieldedPool.sol |");
  });
});
