// `npm run release -- version`: turns the changesets into a version of all packages and a section of CHANGELOG.md.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CommandError } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { type Bump, releaseChangelog } from "./changelog.ts";

/** The part of `changeset status --output` that is read. */
interface Status {
  readonly changesets: readonly {
    readonly summary: string;
    readonly releases: readonly { readonly type: Bump | "none" }[];
  }[];
  readonly releases: readonly { readonly type: Bump | "none"; readonly newVersion: string }[];
}

const ORDER: readonly (Bump | "none")[] = ["none", "patch", "minor", "major"];

const isChangeset = (name: string): boolean => name.endsWith(".md") && name !== "README.md";

/** @returns the new version @throws CommandError NO_CHANGESETS */
export function applyChangesets(folder = root): string {
  const scratch = mkdtempSync(join(tmpdir(), "sotto-changesets-"));
  try {
    const output = join(scratch, "status.json");
    const changeset = (...args: string[]) => execFileSync("changeset", args, { cwd: folder, stdio: "pipe" });
    const nothing = () =>
      new CommandError("NO_CHANGESETS", "no changeset names a public package; add one with: pnpm exec changeset");
    if (!readdirSync(join(folder, ".changeset")).some(isChangeset)) throw nothing();
    changeset("status", `--output=${relative(folder, output)}`);
    const { changesets, releases } = JSON.parse(readFileSync(output, "utf8")) as Status;
    const version = releases.find(({ type }) => type !== "none")?.newVersion;
    if (version === undefined) throw nothing();
    const entries = changesets.flatMap(({ summary, releases: bumps }) => {
      const bump = bumps
        .map(({ type }) => type)
        .reduce((a, b) => (ORDER.indexOf(b) > ORDER.indexOf(a) ? b : a), "none");
      return bump === "none" ? [] : [{ bump, text: summary }];
    });
    const path = join(folder, "CHANGELOG.md");
    const date = new Date().toISOString().slice(0, 10);
    const changelog = releaseChangelog(readFileSync(path, "utf8"), version, date, entries);
    changeset("version");
    writeFileSync(path, changelog);
    return version;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
