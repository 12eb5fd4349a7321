// What a request target means, as long as every server takes it for the same.
import { MAX_URL_LENGTH } from "@sotto/protocol";

export interface Target {
  /** As received: this is what is paid for. */
  readonly target: string;
  /** The path without its encoding. */
  readonly path: string;
  /** Its segments; the last is empty where the path ends with a slash. */
  readonly segments: readonly string[];
  /** Whether nothing of the path was encoded. */
  readonly plain: boolean;
  readonly query: URLSearchParams;
}

/** A slash and printable ASCII. "#" is not sent by honest clients, "\" is a slash to some servers. */
const ORIGIN_FORM = /^\/[!"$-[\]-~]*$/;

/**
 * Encodings that one server undoes before it routes and another does not: of letters, digits and "-._", which need none,
 * of slashes, of controls, of another encoding.
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
 * Reads a request target. Undefined where two servers could take it for different paths (dot segments, empty segments,
 * encoded slashes and the like): what is free or cheap under one reading would be sold under the other. Nothing is
 * normalised.
 *
 * @param origin the shop's; with it the target has to fit into a bundle
 */
export function readTarget(origin: string, target: string): Target | undefined {
  if (typeof target !== "string" || origin.length + target.length > MAX_URL_LENGTH) return undefined;
  if (!ORIGIN_FORM.test(target)) return undefined;
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  // Some servers begin the query at a semicolon.
  if (AMBIGUOUS.test(path) || path.includes(";")) return undefined;
  const raw = path.slice(1).split("/");
  if (raw.slice(0, -1).includes("") || raw.some((segment) => segment === "." || segment === "..")) return undefined;
  const segments = raw.map(decodeSegment);
  if (segments.includes(undefined)) return undefined;
  return {
    target,
    path: `/${segments.join("/")}`,
    segments: segments as string[],
    plain: !path.includes("%"),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
  };
}
