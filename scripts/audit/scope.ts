import { createHash } from "node:crypto";

export interface SourceFile {
  /** Path in the checkout. */
  readonly path: string;
  readonly content: string;
}

/** Lines that are neither empty nor only a comment. Solidity, circom and TypeScript have the same comments. */
export function codeLines(content: string): number {
  let inComment = false;
  let count = 0;
  for (const line of content.split("\n")) {
    const text = line.trim();
    const begins = text.startsWith("/*");
    if (!inComment && !begins && text !== "" && !text.startsWith("//")) count++;
    if (begins) inComment = true;
    if (inComment && text.includes("*/")) inComment = false;
  }
  return count;
}

const folderOf = (path: string): string =>
  path
    .split("/")
    .slice(0, path.startsWith("packages/") ? 2 : 1)
    .join("/");

/** A table of files with lines, lines of code and SHA-256, and a sum for each folder. */
export function scopeTable(files: readonly SourceFile[]): string {
  const rows = files.map(({ path, content }) => {
    const hash = createHash("sha256").update(content).digest("hex");
    return `| ${path} | ${content.split("\n").length - 1} | ${codeLines(content)} | ${hash} |`;
  });
  const folders = [...new Set(files.map(({ path }) => folderOf(path)))].map((folder) => {
    const inside = files.filter(({ path }) => folderOf(path) === folder);
    const code = inside.reduce((sum, { content }) => sum + codeLines(content), 0);
    return `| ${folder} | ${inside.length} | ${code} |`;
  });
  return `# Scope

Verifiers are exported from the keys; CircuitConstants.sol and PaymentSignals.sol are generated. Not in scope: \`contracts/test\`, tests and scripts.

| folder | files | lines of code |
|---|---|---|
${folders.join("\n")}

| file | lines | lines of code | SHA-256 |
|---|---|---|---|
${rows.join("\n")}
`;
}
