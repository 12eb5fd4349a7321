export const HTML_TYPE = "text/html; charset=utf-8";
export const JSON_TYPE = "application/json; charset=utf-8";

/** List headers: the paywall adds its values to those of the application. */
const LISTS = new Set(["vary", "access-control-expose-headers"]);

export const isList = (name: string): boolean => LISTS.has(name.toLowerCase());

/**
 * Merges a header of the paywall with the application's. A CORS handler in front of the paywall also sets `Vary`; if
 * that value were lost, caches would serve one origin's response to every origin.
 */
export function mergedHeader(name: string, before: string | undefined, value: string): string {
  if (before === undefined || before === "" || !isList(name)) return value;
  const present = new Set(before.split(",").map((item) => item.trim().toLowerCase()));
  const missing = value.split(",").filter((item) => !present.has(item.trim().toLowerCase()));
  return present.has("*") || missing.length === 0
    ? before
    : `${before}, ${missing.map((item) => item.trim()).join(", ")}`;
}

/** Whether a response with this status may have a receipt. */
export const isPaidStatus = (status: number): boolean => status >= 200 && status < 300;

/** A directive may have a list in quotes: `private="set-cookie, etag"`. */
const DIRECTIVE = /(?:[^",]|"[^"]*")+/g;

/** Cache-Control of a response with a receipt, which is for its payer only. @param before the application's value */
export function privateCaching(before: unknown): string {
  const directives = (String(before ?? "").match(DIRECTIVE) ?? [])
    .map((directive) => directive.trim())
    .filter((directive) => directive !== "" && !/^(?:public|s-maxage|private)\b/i.test(directive));
  return [...directives, "private"].join(", ");
}
