// Checks the documents: links lead to existing targets, and the README shows the programs that the guides' tests run.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { anchorOf } from "@sotto/command/anchor";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";

const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const documents = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: root, encoding: "utf8" })
  .split("\0")
  .filter((path) => path !== "" && existsSync(join(root, path)));

/** The anchors that GitHub derives from headings, and those that the text has itself. */
const anchors = (text: string): Set<string> =>
  new Set([
    ...[...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!)),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!),
  ]);

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");

/** The recorded constraint counts in a document. */
const readCounts = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/<!--constraints\.(\w+)-->([\d,]+)<!---->/g)].map(([, name, count]) => [
      name!,
      Number(count!.replaceAll(",", "")),
    ]),
  );

describe("documents", function () {
  slow(this, "processes start and end");
  for (const path of documents)
    it(`${path} has no broken links`, () => {
      const broken = [...withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !/^(https?:|mailto:)/.test(target))
        .filter((target) => {
          const [file = "", anchor] = target.split("#");
          const to = file === "" ? path : join(dirname(path), file);
          if (!existsSync(join(root, to))) return true;
          return anchor !== undefined && to.endsWith(".md") && !anchors(read(to)).has(anchor);
        });
      expect(broken).to.deep.equal([]);
    });

  it("the map of docs/architecture.md names every package, and draws only declared dependencies", () => {
    const map = /^```mermaid\nflowchart TD\n([\s\S]*?)^```$/m.exec(read("docs/architecture.md"))?.[1] ?? "";
    const names = new Map([...map.matchAll(/([\w-]+)\[([\w-]+)\]/g)].map(([, id, name]) => [id!, name!]));
    const nameOf = (node: string) => names.get(node.replace(/\[.*/, "")) ?? node;
    const arrows = map
      .trim()
      .split("\n")
      .map((line) => line.trim().split(" --> ").map(nameOf) as [string, string]);
    const undeclared = arrows.filter(([from, to]) => {
      const { dependencies = {} } = JSON.parse(read(`packages/${from}/package.json`)) as { dependencies?: object };
      return !Object.hasOwn(dependencies, `@sotto/${to}`);
    });
    expect(undeclared).to.deep.equal([]);
    const packages = readdirSync(join(root, "packages")).filter(
      (name) => !/^(?:bench|test-.*)$/.test(name) && existsSync(join(root, "packages", name, "package.json")),
    );
    expect([...new Set(arrows.flat())]).to.have.members(packages);
  });

  it("the README shows the same programs that the guides' tests run", () => {
    const blocks = [...read("README.md").matchAll(/^```ts\n\/\/ (\w+)\.ts\n[\s\S]*?^```$/gm)];
    expect(blocks.map(([, name]) => name)).to.deep.equal(["server", "client"]);
    const guides = ["docs/resource-server.md", "docs/client.md"];
    for (const [index, [block]] of blocks.entries()) expect(read(guides[index]!)).to.include(block);
  });

  it("the constraint counts of docs/performance.md and the README match the circuits", () => {
    const { circuits } = JSON.parse(read("circuits/circuits.json")) as {
      circuits: Record<string, { constraints: number }>;
    };
    const counts = Object.entries(circuits).map(([name, { constraints }]) => [name, constraints]);
    expect(readCounts(read("docs/performance.md"))).to.deep.equal(Object.fromEntries(counts));
    expect(readCounts(read("README.md"))).to.deep.equal({ payment: circuits["payment"]?.constraints });
  });

  it("the documents name only existing commands", () => {
    const scripts = Object.keys((JSON.parse(read("package.json")) as { scripts: object }).scripts);
    const known = new Set([...scripts, "install", "exec", "hardhat", "deploy", "run", "test"]);
    for (const path of documents.filter((document) => !document.startsWith("packages/"))) {
      const named = [...read(path).matchAll(/`(?:npm run(?: -s)?|pnpm(?: -s)?) ([a-z][\w:-]*)/g)].map(
        (match) => match[1]!,
      );
      expect(
        named.filter((name) => !known.has(name)),
        path,
      ).to.deep.equal([]);
    }
  });
});
