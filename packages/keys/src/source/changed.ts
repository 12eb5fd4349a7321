import { closure, locate, type Sources } from "./sources.ts";

/** The files of the project and of circomlib that a main includes. `main` is a path or a text. */
export function filesOf(sources: Sources, main: string): Set<string> {
  const { all, path } = locate(sources, main);
  return new Set(closure(all, path).keys());
}

/**
 * Whether a main circuit must be tested: all must, unless `pnpm circuits:build` has named the files that changed (paths
 * below circuits/, comma-separated, in SOTTO_CHANGED_CIRCUITS).
 */
export function isAffected(sources: Sources, main: string, named = process.env["SOTTO_CHANGED_CIRCUITS"]): boolean {
  if (named === undefined) return true;
  const files = filesOf(sources, main);
  return named.split(",").some((file) => files.has(file));
}
