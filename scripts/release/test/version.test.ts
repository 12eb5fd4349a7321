// Changesets become a version and a section of the changelog.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { releaseChangelog } from "../changelog.ts";
import { applyChangesets } from "../version.ts";

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n### Security\n\n- Two.\n";

describe("the changelog of a release", () => {
  it("contains the unreleased changes and the changesets, each under its heading", () => {
    const entries = [
      { bump: "minor", text: "Three,\nin two lines." },
      { bump: "patch", text: "Four." },
    ] as const;
    const first = releaseChangelog(CHANGELOG, "0.2.0", "2026-12-01", entries);
    const section =
      "### Added\n\n- One.\n- Three,\n  in two lines.\n\n### Security\n\n- Two.\n\n### Fixed\n\n- Four.\n";
    expect(first).to.equal(`# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-12-01\n\n${section}`);
    const second = releaseChangelog(first, "0.2.1", "2026-12-02", [{ bump: "patch", text: "Five." }]);
    expect(second).to.equal(
      `# Changelog\n\n## Unreleased\n\n## 0.2.1 - 2026-12-02\n\n### Fixed\n\n- Five.\n\n## 0.2.0 - 2026-12-01\n\n${section}`,
    );
  });
});

describe("npm run release -- version", function () {
  slow(this, "processes start and end");
  let folder: string;
  const manifest = (path: string) => JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8")) as object;

  before(() => {
    folder = temporaryFolder("version");
    const paths = execFileSync(
      "git",
      ["ls-files", "*package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ".changeset"],
      {
        cwd: root,
        encoding: "utf8",
      },
    );
    for (const path of paths.trim().split("\n")) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      cpSync(join(root, path), join(folder, path));
    }
    for (const name of readdirSync(join(folder, ".changeset")))
      if (/\.md$/.test(name) && name !== "README.md") rmSync(join(folder, ".changeset", name));
    writeFileSync(join(folder, "CHANGELOG.md"), CHANGELOG);
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "."],
      [...AUTHOR, "commit", "-qm", "All"],
    ])
      execFileSync("git", args, { cwd: folder });
  });

  it("refuses if nothing changed", () => {
    expect(() => applyChangesets(folder))
      .to.throw()
      .with.property("code", "NO_CHANGESETS");
  });

  it("gives all public packages the same version, and changes no other package", () => {
    const before = manifest("packages/web");
    writeFileSync(join(folder, ".changeset", "one.md"), '---\n"@sotto/client": minor\n---\n\nA wallet counts.\n');
    const version = applyChangesets(folder);
    expect(version).to.match(/^\d+\.\d+\.0$/);
    for (const path of ["packages/client", "packages/x402", "packages/create-sotto"])
      expect(manifest(path)).to.include({ version });
    expect(manifest("packages/web")).to.deep.equal(before);
    expect(readdirSync(join(folder, ".changeset"))).to.not.include("one.md");
    expect(readFileSync(join(folder, "CHANGELOG.md"), "utf8"))
      .to.include(`## ${version} - `)
      .and.include("- A wallet counts.");
    expect(readdirSync(join(folder, "packages", "client"))).to.deep.equal(["package.json"]);
  });
});

const AUTHOR = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
