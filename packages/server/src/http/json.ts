import { FORBIDDEN_KEYS } from "@sotto/protocol";
import { ServerError } from "../errors.ts";

/** Extensions of x402 nest JSON schemas about a dozen levels deep; our own bodies have 2 levels. */
const MAX_DEPTH = 24;

interface Level {
  /** Keys seen so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  expectsKey: boolean;
}

/**
 * Parses JSON so strictly that no two parsers can read it differently: valid UTF-8, no duplicate keys (a proxy and this
 * server could otherwise see different values), no keys that reach a prototype, no deep nesting.
 * @throws ServerError INVALID_JSON, DUPLICATE_KEY, FORBIDDEN_KEY, NESTED_TOO_DEEPLY
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ServerError("INVALID_JSON", "the body is not UTF-8");
  }
  assertKeys(text);
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse would quote the body.
    throw new ServerError("INVALID_JSON", "the body is not JSON");
  }
}

/** Checks only keys and depth. JSON.parse then rejects everything that is not JSON. */
function assertKeys(text: string): void {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const level = levels.at(-1);
    if (character === '"') {
      const end = endOfString(text, at);
      if (level?.keys !== undefined && level.expectsKey) addKey(level.keys, text.slice(at, end + 1));
      at = end;
    } else if (character === "{" || character === "[") {
      levels.push({ keys: character === "{" ? new Set() : undefined, expectsKey: true });
      if (levels.length > MAX_DEPTH)
        throw new ServerError("NESTED_TOO_DEEPLY", `the body is nested deeper than ${MAX_DEPTH} levels`);
    } else if (character === "}" || character === "]") levels.pop();
    else if (level !== undefined && (character === "," || character === ":")) level.expectsKey = character === ",";
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  throw new ServerError("INVALID_JSON", "the body is not JSON");
}

function addKey(keys: Set<string>, literal: string): void {
  let key: string;
  try {
    // Keys are compared after decoding: "\u0061" is "a".
    key = JSON.parse(literal);
  } catch {
    throw new ServerError("INVALID_JSON", "the body is not JSON");
  }
  if (FORBIDDEN_KEYS.has(key)) throw new ServerError("FORBIDDEN_KEY", `the key ${key} is not allowed`);
  if (keys.has(key)) throw new ServerError("DUPLICATE_KEY", "an object contains the same key twice");
  keys.add(key);
}
