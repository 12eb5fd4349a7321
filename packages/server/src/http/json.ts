import { readStrictJson } from "@sotto/protocol/extend";
import { ServerError } from "../errors.ts";

/**
 * Parses the JSON of a body: UTF-8, and as strict as `readStrictJson`.
 * @throws ServerError INVALID_JSON, DUPLICATE_KEY, FORBIDDEN_KEY, NESTED_TOO_DEEPLY
 */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ServerError("INVALID_JSON", "the body is not UTF-8");
  }
  return readStrictJson(text, "the body", (problem, message) => {
    throw new ServerError(problem, message);
  });
}
