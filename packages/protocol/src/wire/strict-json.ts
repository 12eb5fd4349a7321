import { FORBIDDEN_KEYS } from "../object-fields.ts";

/** Extensions of x402 nest JSON schemas about a dozen levels deep; our own bodies have 2 levels. */
const MAX_DEPTH = 24;

/** Why a text is refused. */
export type JsonProblem = "INVALID_JSON" | "DUPLICATE_KEY" | "FORBIDDEN_KEY" | "NESTED_TOO_DEEPLY";

type Refuse = (problem: JsonProblem, message: string) => never;

interface Level {
  /** Keys seen so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  expectsKey: boolean;
}

/**
 * Parses JSON so strictly that no two parsers can read it differently: no duplicate keys (a proxy and this program could
 * otherwise see different values), no keys that reach a prototype, at most 24 levels.
 * @param what names the text in messages
 * @param refuse throws the caller's error; its message does not quote the text
 */
export function readStrictJson(text: string, what: string, refuse: Refuse): unknown {
  assertKeys(text, what, refuse);
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse would quote the text.
    return refuse("INVALID_JSON", `${what} is not JSON`);
  }
}

/** Checks only keys and depth. JSON.parse then rejects everything that is not JSON. */
function assertKeys(text: string, what: string, refuse: Refuse): void {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const level = levels.at(-1);
    if (character === '"') {
      const end = endOfString(text, at) ?? refuse("INVALID_JSON", `${what} is not JSON`);
      if (level?.keys !== undefined && level.expectsKey) addKey(level.keys, text.slice(at, end + 1), what, refuse);
      at = end;
    } else if (character === "{" || character === "[") {
      levels.push({ keys: character === "{" ? new Set() : undefined, expectsKey: true });
      if (levels.length > MAX_DEPTH) refuse("NESTED_TOO_DEEPLY", `${what} is nested deeper than ${MAX_DEPTH} levels`);
    } else if (character === "}" || character === "]") levels.pop();
    else if (level !== undefined && (character === "," || character === ":")) level.expectsKey = character === ",";
  }
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return undefined;
}

function addKey(keys: Set<string>, literal: string, what: string, refuse: Refuse): void {
  // Keys are compared after decoding: "\u0061" is "a".
  const key = parseKey(literal) ?? refuse("INVALID_JSON", `${what} is not JSON`);
  if (FORBIDDEN_KEYS.has(key)) refuse("FORBIDDEN_KEY", `the key ${key} is not allowed`);
  if (keys.has(key)) refuse("DUPLICATE_KEY", "an object contains the same key twice");
  keys.add(key);
}

function parseKey(literal: string): string | undefined {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}
