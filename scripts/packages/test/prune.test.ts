import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { prune, staleFiles } from "../prune.ts";

describe("pruning a package's dist", () => {
  let folder: string;
  const write = (...paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), "");
    }
  };
  beforeEach(() => {
    folder = temporaryFolder("prune");
  });

  it("removes the files whose source is gone, and no others", () => {
    const kept = [
      "dist/index.js",
      "dist/index.js.map",
      "dist/index.d.ts",
      "dist/store/memory.js",
      "dist/store/memory.d.ts",
    ];
    const stale = ["gone.d.ts", "gone.js", "gone.js.map", "store/gone.js", "toString.js"];
    write("src/index.ts", "src/store/memory.ts", ...kept, ...stale.map((path) => `dist/${path}`));
    expect(staleFiles(folder)).to.deep.equal(stale);
    prune(folder);
    expect(staleFiles(folder)).to.deep.equal([]);
    for (const path of kept) expect(existsSync(join(folder, path)), path).to.equal(true);
    for (const path of stale) expect(existsSync(join(folder, "dist", path)), path).to.equal(false);
  });

  it("removes the scripts of modules that are part of a bundle, but not their declarations", () => {
    const kept = ["index.js", "index.js.map", "index.d.ts", "store/memory.d.ts", "store/memory.d.ts.map"];
    const stale = ["store/memory.js", "store/memory.js.map"];
    write("src/index.ts", "src/store/memory.ts", ...[...kept, ...stale].map((path) => `dist/${path}`));
    expect(staleFiles(folder)).to.deep.equal([]);
    expect(staleFiles(folder, ["index"])).to.deep.equal(stale);
  });

  it("does nothing before the first build", () => {
    write("src/index.ts");
    prune(folder);
    expect(existsSync(join(folder, "dist"))).to.equal(false);
  });
});
