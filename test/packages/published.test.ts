// Every published package, as its users get it: packed, installed into an empty project, its README's snippet run.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { problemsOf } from "../../scripts/release/check.ts";
import { type PackedPackage, packAll, publicFolders, readManifest } from "../../scripts/release/pack.ts";
import { slow } from "../kit/slow.ts";
import { broughtBy, Project, readmeSnippet } from "./project.ts";

describe("published packages", function () {
  slow(this, "packages are packed and installed");
  const tarballs = mkdtempSync(join(tmpdir(), "sotto-packed-"));
  let all: PackedPackage[];

  before(async () => {
    all = await packAll(tarballs);
  });
  after(() => rmSync(tarballs, { recursive: true }));

  for (const folder of publicFolders())
    describe(readManifest(folder).name, () => {
      let packed: PackedPackage;
      let project: Project;
      before(() => {
        packed = all.find((one) => one.folder === folder)!;
        project = new Project(packed, all);
      });
      after(() => project.remove());

      it("are fit to be published", async () => {
        expect(await problemsOf(packed)).to.deep.equal([]);
      });

      it("can be imported through every entry", () => {
        const entries = Object.keys(packed.manifest.exports ?? {}).map((entry) => join(packed.name, entry));
        const text = entries.map((entry) => `await import(${JSON.stringify(entry)});`).join("\n");
        project.write("entries.mjs", `${text}\nconsole.log("imported");\n`);
        expect(project.run("node", "entries.mjs")).to.equal("imported\n");
      });

      it("type-check under the strictest settings", () => {
        const entries = Object.keys(packed.manifest.exports ?? {}).map((entry) => join(packed.name, entry));
        const text = entries
          .map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};`)
          .join("\n");
        project.write("types.ts", text);
        const lib = ["--lib", "es2023,dom"];
        // Node's types are there where what the user brings needs them, and nowhere else.
        const types = ["--types", "@types/node" in broughtBy(readManifest(folder)) ? "node" : ""];
        project.run("tsc", "--noEmit", "--strict", "--module", "nodenext", ...types, ...lib, "types.ts");
      });

      it("do what their READMEs show", () => {
        project.write("snippet.mjs", readmeSnippet(folder));
        expect(project.run("node", "snippet.mjs")).to.match(/\S/);
      });
    });
});
