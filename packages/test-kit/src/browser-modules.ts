import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { pathToFileURL } from "node:url";
import { expect } from "chai";

const IMPORTS =
  /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|require\(\s*["']([^"']+)["']\s*\)/g;

/** Every module that the entry reaches, with the specifiers it imports. */
function moduleGraph(url: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(url)) return seen;
  const text = readFileSync(new URL(url), "utf8");
  const specifiers = [...text.matchAll(IMPORTS)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
  seen.set(url, specifiers);
  for (const specifier of specifiers) {
    if (isBuiltin(specifier)) continue;
    const relative = specifier.startsWith(".");
    const target = relative ? new URL(specifier, url).href : pathToFileURL(createRequire(url).resolve(specifier)).href;
    moduleGraph(target, seen);
  }
  return seen;
}

/**
 * Declares the tests that a package's modules run in browsers.
 *
 * @param entries URLs of the package's entries
 * @param folder part of the URL of each module that belongs to the package
 * @param allowed beginnings of the names of the packages that its modules may import
 */
export function describeBrowserModules(entries: readonly string[], folder: string, allowed: readonly string[]): void {
  describe("the package can run in a browser", () => {
    const graph = entries.reduce((seen, entry) => moduleGraph(entry, seen), new Map<string, string[]>());
    const own = [...graph.keys()].filter((url) => url.includes(folder));

    it("imports no Node module, directly or through dependencies", () => {
      expect(own.length).to.be.greaterThan(10);
      expect(graph.size).to.be.greaterThan(own.length + 5);
      const builtins = [...graph].flatMap(([url, specifiers]) =>
        specifiers.filter(isBuiltin).map((name) => `${url}: ${name}`),
      );
      expect(builtins).to.deep.equal([]);
    });

    it("imports only its own files and the packages that it may", () => {
      const foreign = own.flatMap((url) =>
        graph.get(url)!.filter((name) => ![".", ...allowed].some((start) => name.startsWith(start))),
      );
      expect(foreign).to.deep.equal([]);
    });

    it("uses no Node globals, no clock, no network and no weak randomness", () => {
      const forbidden =
        /\b(?:(?:Buffer|process|require|__dirname|setTimeout|setInterval|fetch|localStorage|Math\.random)\b[.(]|Date\.now|Date\(\))/;
      for (const url of own) {
        const code = readFileSync(new URL(url), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
        expect(forbidden.exec(code)?.[0], url).to.equal(undefined);
      }
    });
  });
}
