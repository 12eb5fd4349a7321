// Size of the browser's downloads: the page excludes the proving worker, and the worker excludes snarkjs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { buildPage, ENTRIES } from "../../examples/browser/build.ts";
import { slow } from "../kit/slow.ts";

/** Maximum sizes in bytes, minified, not compressed. */
const MAX_PAGE_BYTES = 500_000;

describe("the bundle of a page that pays", function () {
  slow(this, "a page is bundled");
  const folder = mkdtempSync(join(tmpdir(), "sotto-bundle-"));
  let built: Awaited<ReturnType<typeof buildPage>>;
  before(async () => {
    built = await buildPage(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The files that the browser loads immediately for an entry: the entry and its static imports. */
  const filesOf = (entry: (typeof ENTRIES)[number]) => {
    const { outputs } = built[entry];
    const found = new Set(Object.keys(outputs).filter((file) => basename(file) === `${entry}.js`));
    expect(found.size).to.equal(1);
    for (const file of found)
      for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === "import-statement") found.add(path);
    return [...found].flatMap((file) => outputs[file] ?? []);
  };
  const packagesOf = (inputs: readonly string[]): string[] =>
    inputs.map((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? "sotto");

  it(`has at most ${MAX_PAGE_BYTES / 1000} KB without the worker that proves`, () => {
    const bytes = filesOf("page").reduce((sum, file) => sum + file.bytes, 0);
    expect(bytes).to.be.within(100_000, MAX_PAGE_BYTES);
  });

  it("loads snarkjs only if the fast engine cannot run", () => {
    for (const entry of ENTRIES) {
      const packages = packagesOf(filesOf(entry).flatMap(({ inputs }) => Object.keys(inputs)));
      expect(packages).to.include("sotto");
      expect(packages).not.to.include("snarkjs");
      expect(packages).not.to.include("ffjavascript");
    }
    const lazy = Object.values(built.prover.outputs).flatMap(({ inputs }) => packagesOf(Object.keys(inputs)));
    expect(lazy).to.include("snarkjs");
  });
});
