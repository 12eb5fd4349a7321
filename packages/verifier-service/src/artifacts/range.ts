export interface ByteRange {
  /** First byte, and last byte, inclusive. */
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a Range header (RFC 9110, 14.2) with one range of bytes. Headers with several ranges, other units or malformed
 * values are ignored, as the RFC allows.
 * @returns undefined for the whole file, `unsatisfiable` for status 416
 */
export function parseRange(header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const [start, end] = [Number(first), last === "" ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end };
}

/**
 * Whether an If-None-Match header (a list of entity tags, or *) contains this one. A weak tag matches the strong tag
 * with the same value.
 */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
