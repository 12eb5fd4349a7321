// Parses request targets, and refuses those that two servers could parse differently.
import { MAX_URL_LENGTH } from "@sotto/protocol";
import { ORIGIN_FORM } from "@sotto/protocol/extend";

/** A request target that every server parses alike. */
export interface Target {
  /** As received; payments are bound to it. */
  readonly target: string;
  /** The decoded path. */
  readonly path: string;
  /** Decoded segments; the last is empty if the path ends with a slash. */
  readonly segments: readonly string[];
  /** Whether the path contains no percent-encoding. */
  readonly plain: boolean;
  readonly query: URLSearchParams;
}

/**
 * Encodings that only some servers decode before routing: of letters, digits and "-._", which need no encoding, of
 * slashes, of control characters, and of other encodings.
 */
const AMBIGUOUS = /%(?:[01][0-9A-F]|2[DEF]|3[0-9]|4[1-9A-F]|5[0-9ACF]|6[1-9A-F]|7[0-9AF]|25[0-9A-F]{2})/i;

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * Parses a request target, without normalizing it. Returns undefined if two servers could route it to different paths
 * (dot segments, empty segments, encoded slashes and the like): it might be free under one path and paid under the
 * other.
 * @param origin the origin of the resource server; origin and target together must fit into a bundle
 */
export function parseTarget(origin: string, target: string): Target | undefined {
  if (typeof target !== "string" || origin.length + target.length > MAX_URL_LENGTH) return undefined;
  if (!ORIGIN_FORM.test(target)) return undefined;
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  // Some servers start the query at a semicolon.
  if (AMBIGUOUS.test(path) || path.includes(";")) return undefined;
  const raw = path.slice(1).split("/");
  if (raw.slice(0, -1).includes("") || raw.some((segment) => segment === "." || segment === "..")) return undefined;
  const plain = !path.includes("%");
  const segments = plain ? raw : raw.map(decodeSegment);
  if (segments.includes(undefined)) return undefined;
  return {
    target,
    path: `/${segments.join("/")}`,
    segments: segments as string[],
    plain,
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
  };
}
