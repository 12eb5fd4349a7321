// The files that a browser downloads before it shows the wallet page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { CONTENT_POLICY } from "@sotto/web/content-policy";
import { expect } from "chai";

const README = join(import.meta.dirname, "..", "..", "packages", "web", "README.md");
const DIST = join(import.meta.dirname, "..", "..", "packages", "web", "dist");
const MAX_FIRST_BYTES = 150_000;

/** An entry of Vite's manifest. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

describe("the first view of the web app", () => {
  const chunks = JSON.parse(readFileSync(join(DIST, "files.json"), "utf8")) as Record<string, Chunk>;

  /** The files that a module needs before it runs. */
  const filesOf = (name: string): string[] => {
    const { file, imports = [], css = [] } = chunks[name] ?? expect.fail(`the build has no ${name}`);
    return [file, ...css, ...imports.flatMap(filesOf)];
  };
  const files = [...new Set(["index.html", "src/pages/wallet/wallet-page.tsx"].flatMap(filesOf))];

  it(`has at most ${MAX_FIRST_BYTES / 1000} KB, compressed`, () => {
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file))).length, 0);
    expect(bytes).to.be.within(50_000, MAX_FIRST_BYTES);
  });

  it("contains no wallet, prover or ethers code; the workers load it", () => {
    const code = files.map((file) => readFileSync(join(DIST, file), "utf8")).join("\n");
    expect(code).to.include("createRoot");
    for (const marker of ["Groth16", "snarkjs", "ethers/", "BIP-39"]) expect(code).not.to.include(marker);
  });
});

describe("the content policy of the web app", () => {
  it("comes first in index.html, before anything loads, except for directives that only work in a header", () => {
    const page = readFileSync(join(DIST, "index.html"), "utf8");
    const [, found = ""] = /^.*?<meta http-equiv="Content-Security-Policy" content="([^"]*)"/s.exec(page) ?? [];
    const policy = found.replaceAll("&#39;", "'");
    expect(`${policy}; frame-ancestors 'none'`).to.equal(CONTENT_POLICY);
    expect(page.indexOf("Content-Security-Policy")).to.be.lessThan(page.search(/<(script|link)/));
  });

  it("is the policy that the README recommends to hosts", () => {
    expect(readFileSync(README, "utf8").replaceAll(/\s+/g, " ")).to.include(CONTENT_POLICY);
  });
});
