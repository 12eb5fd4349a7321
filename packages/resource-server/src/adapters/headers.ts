/** Headers that are lists: what is there is kept, what is missing is added. */
const LISTS = new Set(["vary", "access-control-expose-headers"]);

export const isList = (name: string): boolean => LISTS.has(name.toLowerCase());

/**
 * One header of the paywall beside one that the application has set: a CORS handler in front of it also says `Vary`, and
 * an answer that lost that would be cached for every origin.
 */
export function combined(name: string, before: string | undefined, value: string): string {
  if (before === undefined || before === "" || !isList(name)) return value;
  const there = new Set(before.split(",").map((item) => item.trim().toLowerCase()));
  const missing = value.split(",").filter((item) => !there.has(item.trim().toLowerCase()));
  return there.has("*") || missing.length === 0
    ? before
    : `${before}, ${missing.map((item) => item.trim()).join(", ")}`;
}
