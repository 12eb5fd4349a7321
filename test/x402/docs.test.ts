// The code of the documents holds under the strictest types, with the names it leaves to its reader declared.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..");

/** What a reader has at hand. */
const READERS = `import type { Wallet } from "@sotto/client";
import type { SottoRecipient } from "@sotto/x402/server";
import type { Express } from "express";
declare global {
  const app: Express;
  const wallet: Wallet;
  const recipient: SottoRecipient;
  const service: string;
  const chainId: number;
  const pool: string;
  const asset: string;
  const rpcUrls: string[];
}
`;

const blocks = (path: string): string[] =>
  [...readFileSync(join(root, path), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);

describe("the code of docs/x402.md and of the package's README", () => {
  it("holds under the strictest types", () => {
    const found = ["docs/x402.md", "packages/x402/README.md"].flatMap(blocks);
    expect(found.length).to.equal(4);
    const files = new Map([["readers.ts", READERS]]);
    for (const [index, code] of found.entries()) files.set(`block-${index}.ts`, code);
    // Inside of the checkout, whose packages they import.
    mkdirSync(join(root, ".sotto"), { recursive: true });
    const folder = mkdtempSync(join(root, ".sotto", "x402-docs-"));
    try {
      for (const [name, code] of files) writeFileSync(join(folder, name), code);
      const strictest = { strict: true, noEmit: true, module: "nodenext", target: "es2023", skipLibCheck: true };
      const compilerOptions = { ...strictest, types: ["node"], lib: ["es2023", "dom"] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [...files.keys()] }));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
      expect(said(() => execFileSync("tsc", ["-p", folder], { encoding: "utf8" }))).to.equal("");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** What the compiler says. */
function said(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
