// The code of the documents holds under the strictest types, with the names it leaves to its reader declared.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Snippets } from "../shop/support/snippets.ts";

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
    const files = found.map((code, index) => [`block-${index}.ts`, code] as const);
    const snippets = new Snippets(new Map([["readers.ts", READERS], ...files]));
    try {
      snippets.compile();
    } finally {
      snippets.remove();
    }
  });
});
