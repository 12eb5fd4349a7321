import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import type { GeneratedFile } from "@sotto/keys/generate/generated-file";

/**
 * A document with the part between two comments replaced.
 * @param document name in docs/
 * @param part name in the comments: `<!-- PART: written by SCRIPT -->` and `<!-- end of PART -->`
 * @throws Error if the document lacks them
 */
export function withPart(document: string, part: string, script: string, content: string): GeneratedFile {
  const path = join(root, "docs", document);
  const text = readFileSync(path, "utf8");
  const [begin, end] = [`<!-- ${part}: written by ${script} -->\n`, `\n<!-- end of ${part} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`${path} lacks the markers of the ${part}: ${begin.trim()} .. ${end.trim()}`);
  return { path, content: text.slice(0, from + begin.length) + content + text.slice(to) };
}
