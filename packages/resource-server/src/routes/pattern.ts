import { invalidOption } from "../errors.ts";
import type { RoutePattern } from "./options.ts";
import type { Target } from "./target.ts";

const METHOD = /^(\*|[A-Z]{1,32})$/;
const SEGMENT = /^[\w~!$&'()+,=:@.-]*$/;

export interface Pattern {
  /** "*" for all. */
  readonly method: string;
  readonly segments: readonly string[];
  /** Whether it matches the paths below, as `/*` does. */
  readonly below: boolean;
}

function parseSegments(path: string): string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const segments = path.slice(1).split("/");
  if (segments.at(-1) === "*") segments.pop();
  const wrong = (segment: string) => !SEGMENT.test(segment) || segment === "." || segment === ".." || segment === ":";
  return segments.some(wrong) || segments.slice(0, -1).includes("") ? undefined : segments;
}

/** @throws PaywallError INVALID_OPTION */
export function parsePattern({ path, method = "*" }: RoutePattern, where: string): Pattern {
  const segments = typeof path === "string" ? parseSegments(path) : undefined;
  if (segments === undefined)
    throw invalidOption(
      `${where}.path must be a path such as /reports, /reports/:id or /reports/*, got ${String(path)}`,
    );
  if (typeof method !== "string" || !METHOD.test(method))
    throw invalidOption(`${where}.method must be a method in upper case, or *, got ${String(method)}`);
  return { method, segments, below: path.endsWith("/*") };
}

/** GET includes HEAD, as in every framework. */
const allows = (pattern: string, method: string): boolean =>
  pattern === "*" || pattern === method || (pattern === "GET" && method === "HEAD");

type Same = (pattern: string, found: string) => boolean;

function fits({ segments, below }: Pattern, found: readonly string[], same: Same): boolean {
  if (below ? found.length <= segments.length : found.length !== segments.length) return false;
  return segments.every((segment, i) => (segment.startsWith(":") ? found[i] !== "" : same(segment, found[i]!)));
}

/**
 * Whether a request is free: only if the path equals the pattern exactly and contains no encoding. Another spelling is
 * not free, even if the framework routes it to the same handler.
 */
export function matchesExactly(pattern: Pattern, method: string, target: Target): boolean {
  return allows(pattern.method, method) && target.plain && fits(pattern, target.segments, (a, b) => a === b);
}

const withoutTrailingSlash = (segments: readonly string[]): readonly string[] =>
  segments.length > 1 && segments.at(-1) === "" ? segments.slice(0, -1) : segments;

/**
 * Whether some framework may route a request to this pattern. Some ignore letter case and a trailing slash, and Hono
 * and mounted Express apps match `/reports` with `/reports/*`. Another spelling must not get another price.
 */
export function matchesLoosely(pattern: Pattern, method: string, { segments }: Target): boolean {
  if (!allows(pattern.method, method)) return false;
  const same: Same = (a, b) => a.toLowerCase() === b.toLowerCase();
  if (pattern.below && fits(pattern, segments, same)) return true;
  return fits(
    { ...pattern, segments: withoutTrailingSlash(pattern.segments), below: false },
    withoutTrailingSlash(segments),
    same,
  );
}
