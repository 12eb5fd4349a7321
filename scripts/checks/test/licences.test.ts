import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { checkClosures, closureOf } from "../closure.ts";
import { offenders } from "../licences.ts";
import { isCompatible, isPermissive } from "../spdx.ts";

describe("licences", function () {
  slow(this, "processes start and end");
  for (const expression of [
    "MIT",
    "(MIT OR Apache-2.0)",
    "MIT AND ISC",
    "SSPL-1.0 OR MIT",
    "(Apache-2.0 WITH LLVM-exception)",
    "(SSPL-1.0 OR (BSD-3-Clause AND MIT))",
  ])
    it(`accepts ${expression}`, () => expect(isCompatible(expression)).to.equal(true));

  for (const expression of [
    "",
    "Unknown",
    "SSPL-1.0",
    "MIT AND SSPL-1.0",
    "GPL-2.0-only",
    "MIT WITH some-exception",
    "(MIT",
    "MIT)",
    "MIT ISC",
    "OR MIT",
    "SEE LICENSE IN LICENSE.md",
  ])
    it(`rejects "${expression}"`, () => expect(isCompatible(expression)).to.equal(false));

  it("names the package, its versions and its licence", () => {
    const found = offenders({
      MIT: [{ name: "good", versions: ["1.0.0"] }],
      Proprietary: [{ name: "bad", versions: ["2.0.0"] }],
    });
    expect(found).to.deep.equal(["bad@2.0.0: Proprietary"]);
  });

  it("accepts a reviewed licence only for its package", () => {
    const packages = ["esprima", "other"].map((name) => ({ name, versions: ["1.0.0"] }));
    expect(offenders({ BSD: packages })).to.deep.equal(["other@1.0.0: BSD"]);
  });

  it("distinguishes permissive licences from those that a whole program must have", () => {
    for (const expression of ["MIT", "Apache-2.0 AND ISC", "GPL-3.0-or-later OR MIT"])
      expect(isPermissive(expression)).to.equal(true);
    for (const expression of ["GPL-3.0", "LGPL-3.0-only", "MPL-2.0", "MIT AND GPL-3.0-only", ""])
      expect(isPermissive(expression)).to.equal(false);
  });

  describe("of what a package needs", () => {
    let folder: string;
    const write = (path: string, manifest: object, licence?: string): void => {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, "package.json"), JSON.stringify({ version: "1.0.0", ...manifest }));
      if (licence !== undefined) writeFileSync(join(folder, path, "LICENSE"), licence);
    };
    const apache = "Apache License\nVersion 2.0";
    beforeEach(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), "licences-")));
      const dependencies = { near: "1.0.0" };
      write("packages/one", { name: "one", license: "Apache-2.0", dependencies }, apache);
      write("packages/other", { name: "other", license: "GPL-3.0-or-later" });
      write("node_modules/near", { name: "near", license: "MIT", peerDependencies: { far: "1.0.0" } });
      write("node_modules/far", { name: "far", license: "ISC", dependencies });
    });
    afterEach(() => rmSync(folder, { recursive: true }));
    const problems = () => checkClosures(join(folder, "packages")).problems;

    it("finds dependencies of dependencies and peers, each once", () => {
      const names = closureOf(join(folder, "packages/one")).map(({ manifest }) => manifest.name);
      expect(names).to.deep.equal(["one", "near", "far"]);
      expect(checkClosures(join(folder, "packages"))).to.deep.equal({ permissive: ["one"], needed: 3, problems: [] });
    });

    it("names the way to a package whose licence is not permissive", () => {
      write("node_modules/far", { name: "far", license: "GPL-3.0" });
      expect(problems()).to.deep.equal(["one > near > far: the licence is GPL-3.0, which is not permissive"]);
      write("node_modules/far", { name: "far" });
      expect(problems()).to.deep.equal(["one > near > far: the licence is not stated, which is not permissive"]);
    });

    it("refuses a package without its licence's text, or under another permissive licence", () => {
      write("packages/one", { name: "one", license: "Apache-2.0" }, "GNU GENERAL PUBLIC LICENSE");
      expect(problems()).to.deep.equal(["one: LICENSE is not the text of Apache-2.0"]);
      write("packages/one", { name: "one", license: "MIT" }, apache);
      expect(problems()).to.deep.equal(["one: the licence is MIT, expected Apache-2.0"]);
    });

    it("refuses to judge what is not installed, unless it is optional", () => {
      rmSync(join(folder, "node_modules/far"), { recursive: true });
      expect(problems).to.throw("far, which near needs, is not installed");
      write("node_modules/near", { name: "near", license: "MIT", optionalDependencies: { far: "1.0.0" } });
      expect(problems()).to.deep.equal([]);
    });
  });
});
