// Every published package, as its users get it: packed, installed into an empty project, its README's snippet run.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { slow } from "../kit/slow.ts";
import { broughtBy, type Packed, Project, pack, packageFolders, readManifest, readmeSnippet, root } from "./project.ts";

describe("published packages", function () {
  slow(this, "packages are packed and installed");
  const tarballs = mkdtempSync(join(tmpdir(), "sotto-packed-"));
  let all: Packed[];

  before(() => {
    all = packageFolders().map((folder) => pack(folder, tarballs));
  });
  after(() => rmSync(tarballs, { recursive: true }));

  for (const folder of packageFolders())
    describe(readManifest(folder).name, () => {
      let packed: Packed;
      let project: Project;
      before(() => {
        packed = all.find((one) => one.folder === folder)!;
        project = new Project(packed, all);
      });
      after(() => project.remove());

      it("contain what is needed and nothing else", () => {
        expect(packed.files).to.include.members(["package.json", "README.md", "LICENSE"]);
        const others = packed.files.filter((path) => !/^(?:dist\/|package\.json$|README\.md$|LICENSE$)/.test(path));
        expect(others).to.deep.equal([]);
        expect(packed.files.filter((path) => /\.test\./.test(path))).to.deep.equal([]);
      });

      it("contain only modules whose source exists", () => {
        const sourceOf = (path: string) => path.replace(/^dist/, "src").replace(/(?:\.d\.ts|\.js)$/, ".ts");
        const modules = packed.files.filter((path) => path.startsWith("dist/"));
        expect(modules).to.not.deep.equal([]);
        const stale = modules.filter((path) => !existsSync(join(root, "packages", folder, sourceOf(path))));
        expect(stale).to.deep.equal([]);
      });

      it("export existing files", () => {
        const targets = Object.values(packed.manifest.exports).flatMap((target) => Object.values(target));
        expect(packed.files).to.include.members(targets.map((path) => path.replace(/^\.\//, "")));
      });

      it("can be imported through every entry", () => {
        const entries = Object.keys(packed.manifest.exports).map((entry) => join(packed.manifest.name, entry));
        const text = entries.map((entry) => `await import(${JSON.stringify(entry)});`).join("\n");
        project.write("entries.mjs", `${text}\nconsole.log("imported");\n`);
        expect(project.run("node", "entries.mjs")).to.equal("imported\n");
      });

      it("type-check under the strictest settings", () => {
        const entries = Object.keys(packed.manifest.exports).map((entry) => join(packed.manifest.name, entry));
        const text = entries
          .map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};`)
          .join("\n");
        project.write("types.ts", text);
        const lib = ["--lib", "es2023,dom"];
        // Node's types are there where what the user brings needs them, and nowhere else.
        const types = ["--types", "@types/node" in broughtBy(packed.manifest) ? "node" : ""];
        project.run("tsc", "--noEmit", "--strict", "--module", "nodenext", ...types, ...lib, "types.ts");
      });

      it("do what their READMEs show", () => {
        project.write("snippet.mjs", readmeSnippet(folder));
        expect(project.run("node", "snippet.mjs")).to.match(/\S/);
      });
    });
});
