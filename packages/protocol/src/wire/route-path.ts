/** A slash, then printable ASCII without "#", which honest clients never send, and "\", which some servers treat as "/". */
export const ORIGIN_FORM = /^\/[!"$-[\]-~]*$/;
const SEGMENT = /^[\w~!$&'()+,=:@.-]*$/;

/** The path of a route, such as `/v1/chat`, `/reports/:id` (any segment) or `/files/*` (everything below). */
export interface RoutePath {
  /** The last is empty if the path ends with a slash. */
  readonly segments: readonly string[];
  /** Whether it matches the paths below, as `/*` does. */
  readonly below: boolean;
}

/** Parses the path of a route. Returns undefined if it is malformed. */
export function parseRoutePath(path: unknown): RoutePath | undefined {
  if (typeof path !== "string" || !path.startsWith("/")) return undefined;
  const segments = path.slice(1).split("/");
  const below = segments.at(-1) === "*";
  if (below) segments.pop();
  const wrong = (segment: string) => !SEGMENT.test(segment) || [".", "..", ":"].includes(segment);
  return segments.some(wrong) || segments.slice(0, -1).includes("") ? undefined : { segments, below };
}

/** Whether a route of one method is for a request of another: GET includes HEAD, as in every framework. */
export const includesMethod = (route: string, found: string): boolean =>
  route === found || (route === "GET" && found === "HEAD");

type Same = (expected: string, found: string) => boolean;
const isSameText: Same = (a, b) => a === b;
const isSameInAnyCase: Same = (a, b) => a.toLowerCase() === b.toLowerCase();

function fits({ segments, below }: RoutePath, found: readonly string[], same: Same): boolean {
  if (below ? found.length <= segments.length : found.length !== segments.length) return false;
  return segments.every((segment, i) => (segment.startsWith(":") ? found[i] !== "" : same(segment, found[i]!)));
}

/** Whether the segments of a request's path match a route as they are written. */
export const matchesPath = (route: RoutePath, found: readonly string[]): boolean => fits(route, found, isSameText);

const withoutTrailingSlash = (segments: readonly string[]): readonly string[] =>
  segments.length > 1 && segments.at(-1) === "" ? segments.slice(0, -1) : segments;

/**
 * Whether some framework may route the segments of a request's path to a route. Some ignore letter case and a trailing slash, and
 * Hono and mounted Express apps match `/reports` with `/reports/*`.
 */
export const matchesPathLoosely = (route: RoutePath, found: readonly string[]): boolean =>
  (route.below && fits(route, found, isSameInAnyCase)) ||
  fits({ segments: withoutTrailingSlash(route.segments), below: false }, withoutTrailingSlash(found), isSameInAnyCase);
