import { describe, fail } from "@sotto/protocol/extend";
import { exactFields } from "./fields.ts";

/** Maximum length of a route's path, characters. */
const MAX_PATH_LENGTH = 256;
/** Maximum length of a request target, as in payments. */
const MAX_TARGET_LENGTH = 2048;
const METHOD = /^[A-Z]{1,32}$/;
/** As the paths of a paywall's routes. */
const SEGMENT = /^[\w~!$&'()+,=:@.-]+$/;
const TARGET = /^\/[!"$-[\]-~]*$/;

/** The requests that one rule is for. */
export interface MeteredRoute {
  /** Such as "POST". */
  readonly method: string;
  /** Such as "/v1/chat", "/reports/:id" (any segment) or "/files/*" (everything below). */
  readonly path: string;
}

/** Method and target of a request. */
export interface MeteredRequest {
  /** Such as "POST". */
  readonly method: string;
  /** The path with its query, such as "/v1/chat?stream=1". */
  readonly target: string;
}

/** Checks the method of a request. @throws SottoError INVALID_STRING */
export function assertMethod(method: unknown): string {
  if (typeof method !== "string" || !METHOD.test(method))
    fail("INVALID_STRING", `a method must be 1 to 32 upper-case letters such as POST, got ${describe(method)}`);
  return method;
}

/** Checks a request target: the path of a request, with its query. @throws SottoError INVALID_STRING */
export function assertTarget(target: unknown): string {
  if (typeof target !== "string" || target.length > MAX_TARGET_LENGTH || !TARGET.test(target))
    fail(
      "INVALID_STRING",
      `a target must begin with / and have at most ${MAX_TARGET_LENGTH} printable ASCII characters, got ${describe(target)}`,
    );
  return target;
}

const isSegment = (text: string): boolean => SEGMENT.test(text) && ![".", "..", ":"].includes(text);

/** Reads a route from JSON. @throws SottoError INVALID_ARGUMENT, INVALID_STRING */
export function parseRoute(value: unknown): MeteredRoute {
  const { method, path } = exactFields(value, ["method", "path"], "a route");
  const segments = typeof path === "string" && path.length <= MAX_PATH_LENGTH ? path.split("/") : ["?"];
  const named = segments.slice(1, segments.at(-1) === "*" || path === "/" ? -1 : undefined);
  if (segments.length < 2 || segments[0] !== "" || !named.every(isSegment))
    fail(
      "INVALID_STRING",
      `the path of a route must be such as /v1/chat, /reports/:id or /files/*, got ${describe(path)}`,
    );
  return { method: assertMethod(method), path: path as string };
}

interface Pattern {
  readonly segments: readonly string[];
  /** Whether it matches the paths below, as `/*` does. */
  readonly below: boolean;
}

function patternOf(path: string): Pattern {
  const segments = path.slice(1).split("/");
  const below = segments.at(-1) === "*";
  return { segments: below ? segments.slice(0, -1) : segments, below };
}

const isAny = (segment: string): boolean => segment.startsWith(":");

/** Whether a route is for a request: method and path, without the query, compared as they are written. */
export function matchesRoute({ method, path }: MeteredRoute, request: MeteredRequest): boolean {
  const { segments, below } = patternOf(path);
  const found = request.target.split("?", 1)[0]!.slice(1).split("/");
  if (method !== request.method) return false;
  if (below ? found.length <= segments.length : found.length !== segments.length) return false;
  return segments.every((segment, i) => (isAny(segment) ? found[i] !== "" : segment === found[i]));
}

/** Whether some request belongs to both routes. */
export function routesOverlap(one: MeteredRoute, other: MeteredRoute): boolean {
  const [a, b] = [patternOf(one.path), patternOf(other.path)];
  const [shorter, longer] = a.segments.length <= b.segments.length ? [a, b] : [b, a];
  const isLonger = longer.segments.length > shorter.segments.length;
  const hasCommonLength = shorter.below ? longer.below || isLonger : !longer.below && !isLonger;
  if (one.method !== other.method || !hasCommonLength) return false;
  return shorter.segments.every((segment, i) => {
    const found = longer.segments[i]!;
    if (isAny(segment)) return found !== "";
    return isAny(found) ? segment !== "" : segment === found;
  });
}
