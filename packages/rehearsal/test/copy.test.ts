import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expectRejected } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { updateCopy } from "../src/copy.ts";

describe("the copy of the checkout", () => {
  let root: string;
  let copy: string;
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const read = (path: string) => readFileSync(join(copy, path), "utf8");
  beforeEach(() => {
    root = realpathSync(temporaryFolder("copied"));
    copy = join(root, ".sotto", "checkout");
    execFileSync("git", ["init", "--quiet"], { cwd: root });
    write(".gitignore", "node_modules/\n.toolchain/\nbuild/\n.sotto/\n");
    write("a.txt", "one");
    write("packages/user/package.json", "{}");
    write("packages/used/package.json", '{ "used": true }');
    write("node_modules/dependency/index.js", "");
    write("node_modules/.state", "of the checkout");
    write(".toolchain/stamp", "");
    mkdirSync(join(root, "packages/user/node_modules"));
    symlinkSync("../../used", join(root, "packages/user/node_modules/used"));
    symlinkSync("../../../node_modules/dependency", join(root, "packages/user/node_modules/dependency"));
    execFileSync("git", ["add", "--all"], { cwd: root });
  });

  it("has the changes that are not committed, and no file that was removed", () => {
    write("b.txt", "new");
    updateCopy(root, copy);
    expect([read("a.txt"), read("b.txt")]).to.deep.equal(["one", "new"]);
    write("a.txt", "two");
    rmSync(join(root, "b.txt"));
    updateCopy(root, copy);
    expect(read("a.txt")).to.equal("two");
    expect(existsSync(join(copy, "b.txt"))).to.equal(false);
  });

  it("keeps what git ignores in it, and copies none of it", () => {
    write("build/output", "of the checkout");
    updateCopy(root, copy);
    expect(existsSync(join(copy, "build"))).to.equal(false);
    mkdirSync(join(copy, "build"));
    writeFileSync(join(copy, "build", "output"), "of the copy");
    updateCopy(root, copy);
    expect(read("build/output")).to.equal("of the copy");
  });

  it("shares the dependencies, but uses its own packages", () => {
    updateCopy(root, copy);
    updateCopy(root, copy);
    const leadsTo = (path: string) => realpathSync(join(copy, path));
    writeFileSync(join(copy, "node_modules", ".state"), "of the copy");
    expect(readFileSync(join(root, "node_modules", ".state"), "utf8")).to.equal("of the checkout");
    expect(leadsTo("packages/user/node_modules/dependency")).to.equal(join(root, "node_modules", "dependency"));
    expect(leadsTo("packages/user/node_modules/used")).to.equal(join(copy, "packages", "used"));
  });

  it("needs a clone", async () => {
    rmSync(join(root, ".git"), { recursive: true });
    await expectRejected("COPY_FAILED", () => updateCopy(root, copy));
  });
});
