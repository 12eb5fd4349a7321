import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { thrown } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { createProject } from "../src/create.ts";
import { TEMPLATES } from "../src/templates.ts";

const home = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(path, "utf8");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private: boolean;
  readonly engines: { readonly node: string };
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}
const readManifest = (folder: string) => JSON.parse(read(join(folder, "package.json"))) as Manifest;
/** The versions that this repository tests with. */
const tested = [join(home, "..", ".."), home].flatMap((folder) => {
  const { dependencies, devDependencies } = readManifest(folder);
  return Object.entries({ ...dependencies, ...devDependencies });
});

describe("createProject", () => {
  let parent: string;
  beforeEach(() => {
    parent = temporaryFolder("create");
  });

  for (const { name } of TEMPLATES)
    describe(name, () => {
      let folder: string;
      beforeEach(() => {
        folder = join(parent, "my-project");
        createProject(name, folder);
      });

      it("has a name, the versions of this release, and the versions that the repository tests with", () => {
        const { version } = readManifest(home);
        const made = readManifest(folder);
        expect([made.name, made.private]).to.deep.equal(["my-project", true]);
        expect(made.scripts).to.include.keys("start", "dev", "test", "types");
        expect(made.engines.node).to.equal(">=22.18");
        for (const [one, range] of Object.entries({ ...made.dependencies, ...made.devDependencies }))
          if (one.startsWith("@sotto/")) expect(range, one).to.equal(version);
          else expect(tested, one).to.deep.include([one, range]);
      });

      it("declares every package that it imports, and no other", () => {
        const { dependencies, devDependencies } = readManifest(folder);
        const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
        const imported = files.flatMap((file) =>
          [...read(join(folder, file)).matchAll(/ from "((?:@[\w-]+\/)?[\w-]+)(?:\/[\w./-]+)?";/g)].map(
            ([, name]) => name!,
          ),
        );
        const declared = Object.keys({ ...dependencies, ...devDependencies });
        expect(declared).to.include.members([...new Set(imported)]);
        // Programs, and packages of types.
        const others = ["typescript", "@types/node", "@types/express", "@sotto/cli", "@sotto/mcp"];
        expect(declared.filter((name) => !imported.includes(name) && !others.includes(name))).to.deep.equal([]);
      });

      it("installs sotto's packages from the registry of npm run release, all others from the default registry", () => {
        const lines = read(join(folder, ".npmrc"))
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith(";"));
        expect(lines).to.deep.equal(["@sotto:registry=http://127.0.0.1:4873/", "engine-strict=true"]);
      });

      it("keeps secrets and installed packages out of git and images", () => {
        for (const file of [".gitignore", ".dockerignore"])
          expect(
            read(join(folder, file))
              .split("\n")
              .map((line) => line.replace("/", "")),
            file,
          ).to.include.members(["node_modules", ".env"]);
        expect(readdirSync(folder).filter((file) => file.startsWith("_"))).to.deep.equal([]);
      });

      it("has a test, and a README of at most fifteen lines", () => {
        expect(readdirSync(join(folder, "test")).filter((file) => file.endsWith(".test.ts"))).to.not.deep.equal([]);
        expect(read(join(folder, "README.md")).trimEnd().split("\n").length).to.be.within(8, 15);
      });

      it("lists the defaults of its settings in .env.example", () => {
        const settings = read(join(folder, "src", "settings.ts"));
        const given = [...read(join(folder, ".env.example")).matchAll(/^([A-Z_]+)=(.*)$/gm)];
        expect(given).to.not.deep.equal([]);
        for (const [, variable = "", value = ""] of given) {
          expect(settings, variable).to.include(`"${variable}"`);
          if (!value.includes("3000")) expect(settings, variable).to.include(`"${value}"`);
        }
      });

      it("has a two-stage Dockerfile that does not run as root and contains no secret", () => {
        const lines = read(join(folder, "Dockerfile"))
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith("#"));
        const stages = lines.filter((line) => line.startsWith("FROM "));
        expect(stages).to.have.lengthOf(2);
        for (const stage of stages)
          expect(stage)
            .to.match(/^FROM [a-z/-]+:[\w.-]+(?: AS \w+)?$/)
            .and.not.include(":latest");
        const last = lines.slice(lines.lastIndexOf(stages[1]!));
        expect(last.filter((line) => line.startsWith("USER "))).to.have.lengthOf(1);
        expect(last.filter((line) => /^USER (?:root|0)\b/.test(line))).to.deep.equal([]);
        expect(lines.filter((line) => /^RUN npm (?:ci|install)/.test(line))).to.have.lengthOf(1);
        for (const line of lines) expect(line).to.not.match(/^ADD |COPY \. |(?:KEY|SECRET|TOKEN|PASSWORD|WORDS)=/);
        const copied = lines
          .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
          .flatMap((line) => line.split(" ").slice(1, -1));
        for (const path of copied) if (!path.includes("*")) expect(existsSync(join(folder, path)), path).to.equal(true);
      });
    });

  it("fills an empty folder, even one that is a git repository", () => {
    const folder = join(parent, "empty");
    mkdirSync(join(folder, ".git"), { recursive: true });
    createProject("client", folder);
    expect(readManifest(folder).name).to.equal("empty");
  });

  it("refuses a folder that contains files, and a path that is a file", () => {
    writeFileSync(join(parent, "note"), "mine");
    for (const folder of [parent, join(parent, "note")]) {
      const error = thrown(() => createProject("client", folder));
      expect(error.code, folder).to.match(/^(?:FOLDER_NOT_EMPTY|NAME_INVALID)$/);
    }
    expect(readdirSync(parent)).to.deep.equal(["note"]);
    expect(read(join(parent, "note"))).to.equal("mine");
  });

  it("refuses names that npm refuses", () => {
    for (const name of ["My-Project", ".hidden", "a b", "node_modules", "ä", "a".repeat(215)]) {
      const error = thrown(() => createProject("client", join(parent, name)));
      expect(error.code, name).to.equal("NAME_INVALID");
    }
    expect(readdirSync(parent)).to.deep.equal([]);
  });

  it("refuses an unknown template, and lists the known ones", () => {
    const error = thrown(() => createProject("../client", join(parent, "project")));
    expect(error.code).to.equal("TEMPLATE_UNKNOWN");
    for (const { name } of TEMPLATES) expect(error.message).to.include(name);
  });

  it("says why a folder cannot be created", () => {
    writeFileSync(join(parent, "file"), "");
    expect(thrown(() => createProject("client", join(parent, "file", "project"))).code).to.equal("FOLDER_NOT_WRITABLE");
  });
});
