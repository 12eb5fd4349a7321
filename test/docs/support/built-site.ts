// The pages that `npm run docs` builds.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SITE } from "../../../docs/site/serve.ts";

export interface BuiltPage {
  /** Path in the site: `packages/client.html`. */
  readonly path: string;
  readonly html: string;
}

/** @returns every page, ordered by path */
export const builtPages = (): BuiltPage[] =>
  globSync("**/*.html", { cwd: SITE })
    .sort()
    .map((path) => ({ path, html: readFileSync(join(SITE, path), "utf8") }));

/** The values of an attribute of some elements. @param tag for example `a`, or `[a-z]+` for all */
export const attributes = (html: string, tag: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`<${tag}\\s[^>]*?\\b${name}="([^"]*)"`, "g"))].map(([, value]) =>
    value!.replaceAll("&amp;", "&"),
  );

/** The ids of a page's elements. */
export const idsOf = ({ html }: BuiltPage): Set<string> => new Set(attributes(html, "[a-z0-9]+", "id"));
