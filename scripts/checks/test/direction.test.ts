// Checks that the import rules detect each kind of forbidden import. Otherwise a passing check would prove nothing.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..", "..");

describe("dependency direction", function () {
  slow(this, "processes start and end");
  let folder: string;

  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const cruise = () => {
    const result = spawnSync("depcruise", ["packages"], { cwd: folder, encoding: "utf8" });
    const errors = [...result.stdout.matchAll(/error ([\w-]+): (\S+)/g)].map(([, rule = "", file = ""]) => ({
      rule,
      file,
    }));
    return { status: result.status, errors, broken: [...new Set(errors.map(({ rule }) => rule))] };
  };

  beforeEach(() => {
    folder = temporaryFolder("direction");
    cpSync(join(root, ".dependency-cruiser.cjs"), join(folder, ".dependency-cruiser.cjs"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    put("package.json", '{ "type": "module" }');
    for (const name of ["protocol", "prover", "client", "verifier-service", "bench", "test-kit"])
      put(
        `packages/${name}/package.json`,
        '{ "type": "module", "exports": "./dist/index.js", "dependencies": { "ethers": "6.17.0" } }',
      );
    put("packages/protocol/src/index.ts", "export const one = 1;");
    put("packages/protocol/dist/index.js", "export const one = 1;");
    put("packages/client/dist/index.js", "export const two = 2;");
    put("packages/verifier-service/dist/index.js", "export const three = 3;");
    put("packages/test-kit/dist/index.js", "export const four = 4;");
    put("packages/protocol/test/support/one.ts", "export const five = 5;");
    put("test/client/support/world.ts", "export const six = 6;");
  });

  it("accepts allowed imports", () => {
    mkdirSync(join(folder, "packages/prover/node_modules/@sotto"), { recursive: true });
    symlinkSync(join(folder, "packages/protocol"), join(folder, "packages/prover/node_modules/@sotto/protocol"));
    put("packages/prover/src/index.ts", 'import "@sotto/protocol";\nimport "ethers";');
    expect(cruise()).to.deep.equal({ status: 0, errors: [], broken: [] });
  });

  const forbidden: [string, string, string, string][] = [
    [
      "the protocol importing another package",
      "protocol",
      "../../client/dist/index.js",
      "protocol-imports-only-what-it-may",
    ],
    [
      "the client importing the service",
      "client",
      "../../verifier-service/dist/index.js",
      "client-imports-only-what-it-may",
    ],
    ["a module of Node's in the protocol", "protocol", "node:fs", "protocol-is-pure"],
    ["an internal module of another package", "prover", "../../protocol/src/index.ts", "no-way-into-a-package"],
    ["another package by its path", "prover", "../../protocol/dist/index.js", "no-way-into-a-package"],
    [
      "a bench importing a suite's support",
      "bench",
      "../../../test/client/support/world.ts",
      "sources-import-no-tests",
    ],
    [
      "a bench importing the tests of a package",
      "bench",
      "../../protocol/test/support/one.ts",
      "sources-import-no-tests",
    ],
    ["a source importing its own tests", "protocol", "../test/support/one.ts", "sources-import-no-tests"],
    ["a source importing the tests' kit", "client", "../../test-kit/dist/index.js", "sources-import-no-test-package"],
    ["a package that package.json does not list", "prover", "mocha", "declared-dependencies"],
    ["a missing file", "prover", "./nowhere.ts", "resolvable"],
  ];
  const FORMS = { import: "import", type: "import type { X } from" };

  describe("with a file for each forbidden import", () => {
    let found: ReturnType<typeof cruise>;
    const fileOf = (index: number, name: string, form: string) => `packages/${name}/src/bad-${index}-${form}.ts`;
    beforeEach(() => {
      if (found !== undefined) return;
      for (const [index, [, name, specifier]] of forbidden.entries())
        for (const [form, text] of Object.entries(FORMS))
          put(fileOf(index, name, form), `${text} "${specifier}";\nexport {};`);
      found = cruise();
    });

    for (const [index, [what, name, , rule]] of forbidden.entries())
      for (const [form, text] of Object.entries(FORMS))
        it(`rejects ${what} (${text})`, () => {
          expect(found.status).to.be.greaterThan(0);
          expect(found.errors).to.deep.include({ rule, file: fileOf(index, name, form) });
        });
  });

  it("rejects cycles", () => {
    put("packages/protocol/src/a.ts", 'import { b } from "./b.ts";\nexport const a = () => b;');
    put("packages/protocol/src/b.ts", 'import { a } from "./a.ts";\nexport const b = () => a;');
    expect(cruise().broken).to.deep.equal(["no-cycles"]);
  });

  it("rejects folders that import each other through different files", () => {
    put("packages/protocol/src/left/a.ts", 'export { b } from "../right/b.ts";');
    put("packages/protocol/src/right/b.ts", "export const b = 1;");
    put("packages/protocol/src/right/c.ts", 'export { d } from "../left/d.ts";');
    put("packages/protocol/src/left/d.ts", "export const d = 1;");
    expect(new Set(cruise().broken)).to.deep.equal(new Set(["no-folder-cycles"]));
  });

  it("rejects unknown packages", () => {
    put("packages/newcomer/src/index.ts", 'import "../../protocol/dist/index.js";');
    expect(cruise().broken).to.include("packages-are-listed");
  });
});
