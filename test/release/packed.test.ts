// The contents of the tarballs, and how users can use each package. pnpm installs all of them into one project without
// hoisting, so that a package can import only its declared dependencies.

import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { buildToy } from "@sotto/test-kit/toy";
import { expect } from "chai";
import { checkAll, problemsOf } from "../../scripts/release/check.ts";
import { type PackedPackage, packAll, publicFolders, readManifest } from "../../scripts/release/pack.ts";
import { sbomPath, writeSboms } from "../../scripts/release/sbom.ts";
import { NODE_24 } from "./support/nodes.ts";
import { dependenciesOn, entriesOf, packages, registry } from "./support/packages.ts";
import { Project, tested } from "./support/project.ts";

/** Packages that users install themselves, in the versions that sotto is tested with. */
function peersOf(folder: string): [string, string][] {
  const { peerDependencies = {}, devDependencies = {} } = readManifest(folder);
  return Object.entries(peerDependencies).map(([name, range]) => [name, devDependencies[name] ?? range]);
}

/** The first ```js block of a package's README. */
function snippetOf(folder: string): string {
  const snippet = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(root, folder, "README.md"), "utf8"))?.[1];
  if (snippet === undefined) throw new Error(`${folder}/README.md has no js block`);
  return snippet;
}

describe("packed packages", function () {
  slow(this, "packages are packed, checked and installed");
  let all: readonly PackedPackage[];
  let project: Project;
  before(async () => {
    all = await packages();
    const others = ["typescript", "@types/node"].map((name): [string, string] => [name, tested(name)]);
    const peers = publicFolders().flatMap(peersOf);
    const dependencies = { ...Object.fromEntries([...peers, ...others]), ...(await dependenciesOn(all)) };
    project = await Project.install("pnpm", NODE_24, await registry(), dependencies, { hoist: false });
    // What the README of groth16 proves with.
    cpSync(join(await buildToy(project.folder), "toy"), join(project.folder, "toy"), { recursive: true });
  });
  after(() => project.remove());

  it("are ready to be published", () => checkAll(all));

  it("are byte-identical when they are packed again", async () => {
    const again = await packAll(join(project.folder, "again"));
    expect(again.map(({ integrity }) => integrity)).to.deep.equal(all.map(({ integrity }) => integrity));
  });

  it("have a bill of materials with the tarball and the version of every dependency", async () => {
    await writeSboms(all);
    const read = () => all.map((one) => readFileSync(sbomPath(one), "utf8"));
    const first = read();
    await writeSboms(all);
    expect(read().filter((text, index) => text !== first[index])).to.have.length(0);
    for (const [index, { integrity, manifest }] of all.entries()) {
      const { metadata, components } = JSON.parse(first[index]!) as {
        metadata: { component: { hashes: { content: string }[] } };
        components: { purl: string }[];
      };
      const [hash] = metadata.component.hashes;
      expect(`sha512-${Buffer.from(hash!.content, "hex").toString("base64")}`).to.equal(integrity);
      const listed = components.map(({ purl }) => purl);
      const direct = Object.entries(manifest.dependencies ?? {});
      expect(listed).to.include.members(direct.map(([name, exact]) => `pkg:npm/${name.replace("@", "%40")}@${exact}`));
    }
  });

  /** The SDK that @sotto/mcp extends needs browser types. */
  const needsBrowserTypes = (entry: string): boolean => entry.startsWith("@sotto/mcp");

  it("have declarations that fit a strict compiler, for ES modules and CommonJS", async () => {
    const write = (name: string, entries: readonly string[], line: (entry: string, index: number) => string) =>
      project.write(name, entries.map(line).join(""));
    const module = (entry: string, index: number) => `export * as entry${index} from "${entry}";\n`;
    const common = (entry: string, index: number) => `export import entry${index} = require("${entry}");\n`;
    const entries = entriesOf(all);
    const forNode = entries.filter((entry) => !needsBrowserTypes(entry));
    write("node.ts", forNode, module);
    write("node.cts", forNode, common);
    write("all.ts", entries, module);
    write("all.cts", entries, common);
    const settings = inLongRun<[string[], Record<string, unknown>]>(
      [[["node.ts", "node.cts"], { module: "nodenext" }]],
      [
        [["all.ts"], { module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"] }],
        [["all.ts", "all.cts"], { module: "nodenext", lib: ["es2022", "dom"], target: "es2022" }],
      ],
    );
    for (const [files, options] of settings) expect(await project.complaints(files, options)).to.equal("");
  });

  it("have declarations for browsers, without Node's types", async () => {
    const packages = ["protocol", "chain", "groth16", "prover", "wallet", "client"].map((name) => `@sotto/${name}`);
    const entries = entriesOf(all.filter(({ name }) => packages.includes(name)));
    project.write("web.ts", entries.map((entry, index) => `export * as entry${index} from "${entry}";\n`).join(""));
    const options = { module: "esnext", moduleResolution: "bundler", lib: ["es2023", "dom"], types: [] };
    expect(await project.complaints(["web.ts"], options)).to.equal("");
  });

  for (const [way, file, call] of [
    ["import", "entries.mjs", "await import"],
    ["require", "entries.cjs", "require"],
  ] as const)
    it(`load through every entry with ${way}`, async () => {
      const entries = entriesOf(all).map((entry) => `if (!${call}("${entry}")) throw new Error("${entry}");\n`);
      project.write(file, `${entries.join("").replaceAll(/(await import\([^)]*\))/g, "($1)")}console.log("loaded");\n`);
      const { stdout, stderr } = await project.node(file);
      expect([stdout, stderr]).to.deep.equal(["loaded\n", ""]);
    });

  it("explain how to install them", () => {
    for (const { name, folder } of all) {
      // create-sotto runs only in the checkout, because its name is not registered yet.
      const line = name.startsWith("create-") ? "npm run new -- " : `npm install .*${name}\\b`;
      expect(readFileSync(join(root, folder, "README.md"), "utf8")).to.match(new RegExp(line));
    }
  });

  for (const folder of publicFolders())
    it(`${folder} does what its README shows`, async () => {
      project.write("snippet.mjs", snippetOf(folder));
      const { status, stdout, stderr } = await project.node("snippet.mjs");
      expect(stdout, stderr).to.match(/\S/);
      expect(status, stderr).to.equal(0);
    });

  describe("with defects", () => {
    const lies: [string, (one: PackedPackage) => Partial<PackedPackage>, RegExp][] = [
      [
        "without a licence",
        ({ files }) => ({ files: files.filter((path) => path !== "LICENSE") }),
        /LICENSE is missing/,
      ],
      ["with a test", ({ files }) => ({ files: [...files, "test/a.test.ts"] }), /a\.test\.ts does not belong/],
      [
        "with a module of an earlier build",
        ({ files }) => ({ files: [...files, "dist/old.js"] }),
        /old\.js has no source/,
      ],
      [
        "that depend on a folder",
        ({ manifest }) => ({ manifest: { ...manifest, dependencies: { other: "workspace:*" } } }),
        /depends on other by "workspace:\*"/,
      ],
    ];
    for (const [what, lie, expected] of lies)
      it(`${what} are rejected`, async () => {
        const [one] = all;
        const problems = await problemsOf({ ...one!, ...lie(one!) });
        expect(problems).to.have.length(1);
        expect(problems[0]).to.match(expected);
      });
  });
});
