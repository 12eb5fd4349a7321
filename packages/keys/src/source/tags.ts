import { nameComponents } from "./anonymous.ts";
import type { Sources } from "./sources.ts";

/**
 * A constraint group: the statements under a comment `// [C:id] reason`, up to the first blank line, the next tag or
 * the end of the block that contains the comment. Further comment lines belong to the reason.
 */
export interface Tag {
  id: string;
  file: string;
  /** 1-based line of the comment. */
  line: number;
  reason: string;
  /** Offsets of the statements in the file's text. */
  start: number;
  end: number;
}

const TAG = /^\s*\/\/ \[C:([a-z0-9_.-]+)\]\s*(.*)$/;
const COMMENT = /^\s*\/\//;

/** Depth of open blocks after a line; negative once the surrounding block is closed. */
function depthAfter(line: string, depth: number): number {
  let current = depth;
  for (const character of line.replace(/\/\/.*$/, "")) {
    if (character === "{") current++;
    if (character === "}") current--;
    if (current < 0) return current;
  }
  return current;
}

function tagsOf(file: string, text: string): Tag[] {
  const lines = text.split("\n");
  const offsets = [0];
  for (const line of lines) offsets.push((offsets.at(-1) as number) + line.length + 1);
  const found: Tag[] = [];
  for (const [index, line] of lines.entries()) {
    const match = TAG.exec(line);
    if (match === null) continue;
    const reason = [match[2] as string];
    let first = index + 1;
    for (; COMMENT.test(lines[first] ?? "") && !TAG.test(lines[first] as string); first++)
      reason.push((lines[first] as string).replace(COMMENT, "").trim());
    let last = first;
    for (let depth = 0; last < lines.length; last++) {
      const next = lines[last] as string;
      depth = depthAfter(next, depth);
      if (depth < 0 || (depth === 0 && (next.trim() === "" || TAG.test(next)))) break;
    }
    const [start, end] = [offsets[first] as number, offsets[last] as number];
    if (text.slice(start, end).trim() === "") throw new Error(`${file}:${index + 1}: tag ${match[1]} has no statement`);
    found.push({ id: match[1] as string, file, line: index + 1, reason: reason.join(" ").trim(), start, end });
  }
  return found;
}

/** Every tag of the project's sources. Throws if an id is used twice, or if a tag has no reason or no statement. */
export function readTags(sources: Sources): Tag[] {
  const tags = [...sources].flatMap(([file, text]) => tagsOf(file, text));
  const seen = new Map<string, Tag>();
  for (const tag of tags) {
    const other = seen.get(tag.id);
    if (other) throw new Error(`${tag.file}:${tag.line}: tag ${tag.id} is already in ${other.file}:${other.line}`);
    if (tag.reason === "") throw new Error(`${tag.file}:${tag.line}: tag ${tag.id} has no reason`);
    seen.set(tag.id, tag);
  }
  return tags;
}

/** The statements without their constraints: `===` removed, `<==` weakened to `<--`, hints kept. */
export function withoutConstraints(statements: string, where: string): string {
  const code = statements.replace(/\/\/.*$/gm, "");
  const removed = code
    .replace(/[^;{}]*===[^;]*;/g, "")
    .replaceAll("<==", "<--")
    .replaceAll("==>", "-->");
  if (removed === code) throw new Error(`${where}: the statements constrain nothing`);
  return removed;
}

/** The sources without one group. Line numbers elsewhere may change. */
export function removeGroup(sources: Sources, tag: Tag): Map<string, string> {
  const [text, start, end] = nameComponents(sources, tag.file, tag.start, tag.end);
  const weak = withoutConstraints(text.slice(start, end), `${tag.file}:${tag.line}`);
  return new Map(sources).set(tag.file, text.slice(0, start) + weak + text.slice(end));
}
