// The inputs in turbo.json files follow from what this finds: a file that it misses would change without any suite running.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { reachFrom } from "../reach.ts";

/** Apart, so that this file imports no package that does not exist. */
const SCOPE = "@sotto";

describe("the files that a test uses", () => {
  const folder = temporaryFolder("reach");

  const files = new Set<string>();
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    files.add(path);
  };
  const tool = { name: "@sotto/tool", exports: { "./plain": "./src/plain.mjs", "./*": "./src/*.ts" } };
  put("packages/tool/package.json", JSON.stringify(tool));
  put("packages/tool/src/plain.mjs", "");
  put("packages/tool/src/deep/run.ts", 'import "./step.ts";');
  put("packages/tool/src/deep/step.ts", "");
  put("packages/built/package.json", JSON.stringify({ name: "@sotto/built", exports: "./dist/index.js" }));
  put("docs/page.md", "");
  put("package.json", "");
  put("test/one/support/child.ts", 'import "../../two/other.ts";');
  put("test/two/other.ts", "");
  put("test/two/data.json", "");

  const cases: readonly [string, string, readonly string[]][] = [
    [
      "a file that it imports, and what that imports",
      'import "./support/child.ts";',
      ["test/one/support/child.ts", "test/two/other.ts"],
    ],
    [
      "the source of a package's wildcard",
      `import { run } from "${SCOPE}/tool/deep/run";`,
      ["packages/tool/src/deep/run.ts", "packages/tool/src/deep/step.ts"],
    ],
    ["the source of a package's entry", `await import("${SCOPE}/tool/plain");`, ["packages/tool/src/plain.mjs"]],
    [
      "a program that it starts, and what that imports",
      'start("packages/tool/src/deep/run.ts");',
      ["packages/tool/src/deep/run.ts", "packages/tool/src/deep/step.ts"],
    ],
    [
      "a program beside it",
      'start(join(import.meta.dirname, "support", "child.ts"));',
      ["test/one/support/child.ts", "test/two/other.ts"],
    ],
    ["a file at a URL", 'new URL("../two/data.json", import.meta.url);', ["test/two/data.json"]],
    ["a file below the root", 'join(root, "docs", "page.md");', ["docs/page.md"]],
    ["each file of a list", '["docs/page.md", "test/two/data.json"]', ["docs/page.md", "test/two/data.json"]],
    ["a file of the root", 'join(root, "package.json");', ["package.json"]],
    ["no file whose name alone could be another's", 'join(folder, "package.json");', []],
    ["no file that only a string imports", "const program = `\n'import \"./support/child.ts\"';\n`;", []],
  ];
  for (const [what, text, expected] of cases)
    it(`include ${what}`, () => {
      put("test/one/some.test.ts", text);
      const reached = reachFrom(folder, files, ["test/one/some.test.ts"]);
      expect([...reached.files].slice(1)).to.have.members(expected);
    });

  it("name the packages that are built", () => {
    put("test/one/some.test.ts", `import { one } from "${SCOPE}/built/entry";`);
    expect([...reachFrom(folder, files, ["test/one/some.test.ts"]).packages]).to.deep.equal(["@sotto/built"]);
  });

  it("are the imported ones alone for a check of types", () => {
    put("test/one/some.test.ts", 'import "./support/child.ts";\njoin(root, "docs", "page.md");');
    const { files: found } = reachFrom(folder, files, ["test/one/some.test.ts"], false);
    expect([...found].slice(1)).to.have.members(["test/one/support/child.ts", "test/two/other.ts"]);
  });
});
