// The site that `npm run docs` builds: its pages, their links and the files that they load.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Application } from "typedoc";
import { entryPoints, root } from "../../docs/site/exports.ts";
import { addressOf, GROUPS, pageOf, referenceOf } from "../../docs/site/pages.ts";
import { SITE } from "../../docs/site/serve.ts";
import { repeating, undocumented } from "../../docs/site/undocumented.ts";
import { attributes, type BuiltPage, builtPages, idsOf } from "./support/built-site.ts";

/** The built page of a Markdown file of the repository. */
const builtFrom = (path: string): string => addressOf(path).replace(/\.md$/, ".html");

describe("the documentation site", () => {
  let pages: Map<string, BuiltPage>;
  before(() => {
    pages = new Map(builtPages().map((page) => [page.path, page]));
  });

  const sidebarFiles = GROUPS.flatMap(({ files }) => files);

  it("lists every document in the sidebar exactly once", () => {
    const documents = globSync("docs/*.md", { cwd: root }).sort();
    expect(documents).to.not.deep.equal([]);
    for (const path of documents)
      expect(
        sidebarFiles.filter((file) => file === path),
        path,
      ).to.deep.equal([path]);
  });

  it("has a page for every document, every package README and the four top-level files", () => {
    const sources = globSync(["docs/*.md", "packages/*/README.md", "*.md"], { cwd: root });
    expect(sources).to.include.members(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]);
    expect([...pages.keys()]).to.include.members(sources.map(builtFrom));
  });

  it("has a page for every public entry point, and is built after every package that has one", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "docs", "site", "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const entries = entryPoints();
    expect(entries.map(({ name }) => name)).to.include.members(["@sotto/client", "@sotto/wallet/browser"]);
    expect(Object.keys(dependencies).sort()).to.deep.equal([...new Set(entries.map((entry) => entry.package))].sort());
    for (const { name } of entries) {
      const { html } = pages.get(builtFrom(referenceOf(name))) ?? { html: "no page" };
      expect(/<h1[^>]*>([^<]*)/.exec(html)?.[1]?.trim(), name).to.equal(name);
    }
  });

  it("rejects a missing docstring, and one that only repeats a field's name", async () => {
    const folder = join(import.meta.dirname, "support", "undocumented");
    const app = await Application.bootstrap({
      entryPoints: [join(folder, "index.ts")],
      tsconfig: join(root, "docs", "site", "tsconfig.reference.json"),
      entryPointStrategy: "resolve",
      alwaysCreateEntryPointModule: true,
      logLevel: "None",
    });
    const project = (await app.convert())!;
    expect(undocumented(project)).to.have.members([
      "index: onlyReturns",
      "index: Undocumented",
      "index: Undocumented.times",
      "index: Undocumented.prices",
      "index: Undocumented.guest",
      "index: Undocumented.host",
      "index: Farewell.language",
      "index: Greeter.goodbye",
      "index: Polite.mood",
    ]);
    expect(repeating(project)).to.deep.equal(["index: Undocumented.greetings"]);
  });

  it("gives every page a unique title and a single first-level heading", () => {
    const titles = new Map<string, string>();
    for (const { path, html } of pages.values()) {
      if (path === "404.html") continue;
      const title = /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? "";
      expect(title, path).to.match(/\S \| sotto$|^sotto/);
      expect(titles.get(title), `${path} has the title of another page: ${title}`).to.equal(undefined);
      titles.set(title, path);
      expect(html.match(/<h1[\s>]/g) ?? [], `first-level headings of ${path}`).to.have.lengthOf(1);
    }
  });

  it("has no link to a page or an anchor that does not exist", () => {
    const ids = new Map([...pages.values()].map((page) => [page.path, idsOf(page)]));
    const dead: string[] = [];
    let count = 0;
    for (const { path, html } of pages.values())
      for (const href of attributes(html, "a", "href")) {
        if (/^[a-z]+:/.test(href)) continue;
        count += 1;
        const { pathname, hash } = new URL(href, `http://site/${path}`);
        const name = decodeURIComponent(pathname.slice(1));
        const target = name === "" || name.endsWith("/") ? `${name}index.html` : name;
        const anchor = decodeURIComponent(hash.slice(1));
        if (!ids.has(target) || (anchor !== "" && !ids.get(target)!.has(anchor))) dead.push(`${path}: ${href}`);
      }
    expect(count).to.be.greaterThan(1000);
    expect([...new Set(dead)]).to.deep.equal([]);
  });

  it("turns a link to a repository file into a link to the file's page, or into plain text if there is none", () => {
    expect(pageOf("packages/client")).to.equal("packages/client/README.md");
    expect(pageOf("docs/tour.md")).to.equal("docs/tour.md");
    expect(pageOf("circuits")).to.equal(undefined);
    const readme = pages.get("overview.html")!.html;
    expect(attributes(readme, "a", "href")).to.include.members(["/tour.html", "/packages/client.html"]);
    expect(attributes(readme, "span", "title")).to.include("circuits in the repository");
  });

  it("loads nothing from another host", () => {
    const loaded: string[] = [];
    for (const { path, html } of pages.values()) {
      const references = [
        ...attributes(html, "(?:script|img|source|iframe|video|audio)", "src"),
        ...attributes(html, "(?:img|source)", "srcset"),
        ...attributes(html, "link", "href"),
      ];
      loaded.push(
        ...references.filter((value) => !/^(?:\/(?!\/)|data:)/.test(value)).map((value) => `${path}: ${value}`),
      );
    }
    for (const path of globSync("**/*.css", { cwd: SITE })) {
      const css = readFileSync(join(SITE, path), "utf8");
      const references = [...css.matchAll(/url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)/g)];
      const urls = references.map(([, url, imported]) => url ?? imported ?? "");
      loaded.push(...urls.filter((url) => /^(?:https?:)?\/\//.test(url)).map((url) => `${path}: ${url}`));
    }
    expect(loaded).to.deep.equal([]);
  });
});
