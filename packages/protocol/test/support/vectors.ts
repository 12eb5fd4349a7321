import { readFileSync } from "node:fs";

/** Known-answer vectors, with every decimal string read as a bigint. */
export function vectors<T>(name: string): T {
  const text = readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8");
  return JSON.parse(text, (_, value) =>
    typeof value === "string" && /^[0-9]+$/.test(value) ? BigInt(value) : value,
  ) as T;
}
