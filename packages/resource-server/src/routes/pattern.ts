import {
  includesMethod,
  matchesPath,
  matchesPathLoosely,
  parseRoutePath,
  type RoutePath,
} from "@sotto/protocol/extend";
import { invalidOption } from "../errors.ts";
import type { RoutePattern } from "./options.ts";
import type { Target } from "./target.ts";

const METHOD = /^(\*|[A-Z]{1,32})$/;

export interface Pattern extends RoutePath {
  /** "*" for all. */
  readonly method: string;
}

/** @throws PaywallError INVALID_OPTION */
export function parsePattern({ path, method = "*" }: RoutePattern, where: string): Pattern {
  const parsed = parseRoutePath(path);
  if (parsed === undefined)
    throw invalidOption(
      `${where}.path must be a path such as /reports, /reports/:id or /reports/*, got ${String(path)}`,
    );
  if (typeof method !== "string" || !METHOD.test(method))
    throw invalidOption(`${where}.method must be a method in upper case, or *, got ${String(method)}`);
  return { method, ...parsed };
}

const allows = (pattern: string, method: string): boolean => pattern === "*" || includesMethod(pattern, method);

/**
 * Whether a request is free: only if the path equals the pattern exactly and contains no encoding. Another spelling is
 * not free, even if the framework routes it to the same handler.
 */
export const matchesExactly = (pattern: Pattern, method: string, target: Target): boolean =>
  allows(pattern.method, method) && target.plain && matchesPath(pattern, target.segments);

/** Whether some framework may route a request to this pattern. Another spelling must not get another price. */
export const matchesLoosely = (pattern: Pattern, method: string, { segments }: Target): boolean =>
  allows(pattern.method, method) && matchesPathLoosely(pattern, segments);
