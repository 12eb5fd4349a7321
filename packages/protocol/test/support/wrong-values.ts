/** Values that JSON.parse can return and that are invalid in every field. */
export const WRONG: readonly unknown[] = [
  ...[undefined, null, {}, [], [[]], [null], { valueOf: 1 }, Number.NaN, JSON.parse("1e400"), -1, 0.5, 1e21, -0.1],
  ...["", " ", "\u0000", "\ud800", "١٢٣", "0x", "NaN", "-1", "1e3", "0x1e", "__proto__", "constructor"],
];

/** A path of names and indices inside an object. */
export type Path = readonly (string | number)[];

/** The paths of all values of an object that are not objects themselves; an array counts as one value. */
export function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

/** A copy with the value at `path` replaced; undefined removes the field. */
export function replaced(object: unknown, path: Path, value: unknown): Record<string, unknown> {
  const copy = structuredClone(object) as Record<string, unknown>;
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((at, name) => at[name] as never, copy);
  const last = path.at(-1)!;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
