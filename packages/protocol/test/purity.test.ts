import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { pathToFileURL } from "node:url";
import { expect } from "chai";

const entries = ["index", "prepaid"].map((name) => import.meta.resolve(`../src/${name}.ts`));
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

describe("the package can run in a browser", () => {
  const graph = entries.reduce((seen, entry) => moduleGraph(entry, seen), new Map<string, string[]>());
  const own = [...graph.keys()].filter((url) => url.includes("/packages/protocol/src/"));

  it("imports no Node module, directly or through dependencies", () => {
    expect(own.length).to.be.greaterThan(20);
    expect(graph.size).to.be.greaterThan(own.length + 5);
    const builtins = [...graph].flatMap(([url, specifiers]) =>
      specifiers.filter(isBuiltin).map((name) => `${url}: ${name}`),
    );
    expect(builtins).to.deep.equal([]);
  });

  it("imports only its own files and @noble", () => {
    const foreign = own.flatMap((url) =>
      graph.get(url)!.filter((name) => !name.startsWith(".") && !name.startsWith("@noble/")),
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
