import { closure, type Sources } from "./sources.ts";

const INCLUDE = /^\s*include\s+"([^"]+)"\s*;/gm;

/** The files of the project and of circomlib that a main is made of: the path of one, or the text of one. */
export function filesOf(sources: Sources, main: string): Set<string> {
  const starts = sources.has(main) ? [main] : [...main.matchAll(INCLUDE)].map((match) => match[1] as string);
  return new Set(starts.flatMap((path) => [...closure(sources, path).keys()]));
}

/**
 * Whether a main is to be tested: all are, unless `pnpm circuits:build` has named the files that changed (paths below
 * circuits/, comma-separated, in SOTTO_CHANGED_CIRCUITS).
 */
export function isAffected(sources: Sources, main: string, named = process.env["SOTTO_CHANGED_CIRCUITS"]): boolean {
  if (named === undefined) return true;
  const files = filesOf(sources, main);
  return named.split(",").some((file) => files.has(file));
}
