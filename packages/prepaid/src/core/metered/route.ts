import { MAX_URL_LENGTH } from "@sotto/protocol";
import {
  describe,
  fail,
  includesMethod,
  matchesPath,
  ORIGIN_FORM,
  parseRoutePath,
  type RoutePath,
} from "@sotto/protocol/extend";

/** Maximum length of a route's path, characters. */
const MAX_PATH_LENGTH = 256;
const METHOD = /^[A-Z]{1,32}$/;

/** The requests that one rule is for. */
export interface MeteredRoute {
  /** Such as "POST". A route of GET is also for HEAD. */
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
  if (typeof target !== "string" || target.length > MAX_URL_LENGTH || !ORIGIN_FORM.test(target))
    fail(
      "INVALID_STRING",
      `a target must begin with / and have at most ${MAX_URL_LENGTH} printable ASCII characters, got ${describe(target)}`,
    );
  return target;
}

/** A route whose path is parsed. */
export interface ParsedRoute {
  readonly method: string;
  readonly path: RoutePath;
}

/** Checks method and path of a route. @throws SottoError INVALID_STRING */
export function parseRoute(
  method: unknown,
  path: unknown,
): { readonly route: MeteredRoute; readonly parsed: ParsedRoute } {
  const isText = typeof path === "string" && path.length <= MAX_PATH_LENGTH;
  const parsed = isText ? parseRoutePath(path) : undefined;
  if (!isText || parsed === undefined || (parsed.segments.at(-1) === "" && path !== "/"))
    fail(
      "INVALID_STRING",
      `the path of a route must be such as /v1/chat, /reports/:id or /files/*, got ${describe(path)}`,
    );
  if (method === "HEAD")
    fail("INVALID_STRING", "the method of a route must not be HEAD; a route of GET is also for HEAD");
  const route = { method: assertMethod(method), path };
  return { route, parsed: { method: route.method, path: parsed } };
}

/**
 * The place of the first route for a request: method and path, without the query, compared as they are written.
 * @returns -1 if there is none
 */
export function findRoute(routes: readonly ParsedRoute[], request: MeteredRequest): number {
  const found = request.target.split("?", 1)[0]!.slice(1).split("/");
  return routes.findIndex(({ method, path }) => includesMethod(method, request.method) && matchesPath(path, found));
}

/**
 * Whether a paywall may take some request for both routes: it ignores letter case, and `/files/*` includes `/files`. Wider than
 * `findRoute`, so that the route that a paywall finds first is never another than that of the terms.
 */
export function routesOverlap({ method, path: a }: ParsedRoute, { method: other, path: b }: ParsedRoute): boolean {
  const [shorter, longer] = a.segments.length <= b.segments.length ? [a, b] : [b, a];
  if (method !== other || !(shorter.below || longer.segments.length === shorter.segments.length)) return false;
  const isAny = (segment: string, found: string) => segment.startsWith(":") && found !== "";
  return shorter.segments.every((segment, i) => {
    const found = longer.segments[i]!;
    return segment.toLowerCase() === found.toLowerCase() || isAny(segment, found) || isAny(found, segment);
  });
}
