// The copy of the checkout in which the rehearsal runs. There, the ceremony adds keys to the programs and verifiers to the
// contracts, which must not happen in the checkout itself.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "@sotto/command/command";

function git(folder: string, ...args: readonly string[]): string {
  try {
    return execFileSync("git", args, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: "pipe" });
  } catch (cause) {
    throw new CommandError("COPY_FAILED", `git ${args[0]} failed in ${folder}; is git installed?`, { cause });
  }
}

const lines = (text: string): string[] => text.split("\0").filter((line) => line !== "");

const isSame = (one: string, other: string): boolean =>
  existsSync(other) && statSync(one).size === statSync(other).size && readFileSync(one).equals(readFileSync(other));

/**
 * Makes `copy` equal to the checkout, with its changes that are not committed. Files that git ignores stay as they are: builds
 * and the ceremony.
 * @throws CommandError COPY_FAILED
 */
export function updateCopy(root: string, copy: string): void {
  if (!existsSync(join(root, ".git")))
    throw new CommandError("COPY_FAILED", `${root} is not a clone, and git knows which of its files to copy`);
  const files = lines(git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")).filter(
    (file) => existsSync(join(root, file)) && statSync(join(root, file)).isFile(),
  );
  mkdirSync(copy, { recursive: true });
  if (!existsSync(join(copy, ".git"))) git(copy, "init", "--quiet");
  // The patterns of .gitignore are for a folder, and this is a link.
  writeFileSync(join(copy, ".git", "info", "exclude"), "/.toolchain\n");
  const wanted = new Set(files);
  for (const file of lines(git(copy, "ls-files", "-z")))
    if (!wanted.has(file)) rmSync(join(copy, file), { force: true });
  for (const file of files) {
    const [from, to] = [join(root, file), join(copy, file)];
    if (isSame(from, to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
  git(copy, "add", "--all");
  shareDependencies(root, copy);
  // Each package has links to its dependencies. They are relative, so that those to packages lead into the copy.
  for (const file of files.filter((name) => /(^|\/)package\.json$/.test(name) && name.includes("/"))) {
    const [from, to] = [root, copy].map((folder) => join(folder, dirname(file), "node_modules")) as [string, string];
    rmSync(to, { recursive: true, force: true });
    if (existsSync(from)) cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  }
}

/**
 * Lets the copy use the Node and the locked dependencies of the checkout. Its node_modules has links to the packages, but files
 * of its own: a package manager that wrote its state of the copy into the checkout's would install everything there again.
 */
function shareDependencies(root: string, copy: string): void {
  const toolchain = join(copy, ".toolchain");
  rmSync(toolchain, { force: true });
  symlinkSync(join(root, ".toolchain"), toolchain);
  const modules = join(copy, "node_modules");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
  for (const entry of readdirSync(join(root, "node_modules"), { withFileTypes: true })) {
    const [from, to] = [join(root, "node_modules", entry.name), join(modules, entry.name)];
    if (entry.isFile()) copyFileSync(from, to);
    else symlinkSync(from, to);
  }
}
