// Which files of the repository are pages of the site, at which address, and in which order the sidebar lists them.
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { entryPoints, root } from "./exports.ts";

/** Where `npm run docs` writes the pages generated from the code. */
export const REFERENCE = "docs/site/build/reference";

/** Files of the repository that a generated page shows. */
const SHOWN_BY: Readonly<Record<string, string>> = { "docs/openapi.json": `${REFERENCE}/openapi.md` };

/** Patterns of the folders that hold no pages. `**` also matches zero folders, hence the `*` before it. */
export const EXCLUDED = [
  "!(docs|packages)/*/**",
  "docs/!(site)/*/**",
  "docs/site/!(pages|build)/*/**",
  "docs/site/build/!(reference)/*/**",
  "packages/*/*/*/**",
];

/** The address of a page, with the ending `.md`. @param path the path of a Markdown file in the repository */
export function addressOf(path: string): string {
  if (path === "README.md") return "overview.md";
  if (path.startsWith(`${REFERENCE}/`))
    return path === `${REFERENCE}/openapi.md`
      ? "openapi.md"
      : `reference/${path.slice(REFERENCE.length + 1).replace(/^@sotto\//, "")}`;
  if (path.startsWith("docs/site/pages/")) return path.slice("docs/site/pages/".length);
  if (path.startsWith("docs/")) return path.slice("docs/".length);
  if (path.startsWith("packages/")) return `${path.slice(0, -"/README.md".length)}.md`;
  return path.toLowerCase();
}

/**
 * The page that shows a file or folder of the repository.
 * @param path in the repository
 * @returns the Markdown file of the page; undefined if no page shows it
 */
export function pageOf(path: string): string | undefined {
  const folder = path.replace(/\/$/, "");
  for (const candidate of [SHOWN_BY[path], path, `${folder}/README.md`])
    if (
      candidate?.endsWith(".md") &&
      /^(?:[A-Z]+\.md|docs\/[^/]+\.md|docs\/site\/.*|packages\/[^/]+\/README\.md)$/.test(candidate)
    )
      if (existsSync(join(root, candidate))) return candidate;
  return undefined;
}

interface Group {
  readonly text: string;
  /** Files of the repository. */
  readonly files: readonly string[];
}

/** The reading order for a newcomer. test/docs checks that every document is in exactly one group. */
export const GROUPS: readonly Group[] = [
  { text: "What it is", files: ["README.md", "docs/tour.md", "docs/glossary.md"] },
  {
    text: "Charge",
    files: [
      "docs/resource-server.md",
      "docs/monthly.md",
      "docs/paywall.md",
      "docs/prepaid.md",
      "docs/metered.md",
      "docs/x402.md",
      "docs/mpp.md",
    ],
  },
  { text: "Pay", files: ["docs/client.md", "docs/cli.md"] },
  { text: "AI agents", files: ["docs/agents.md"] },
  {
    text: "Operate",
    files: [
      "docs/operations.md",
      "docs/operations-run.md",
      "docs/operations-watch.md",
      "docs/operations-scale.md",
      "docs/operations-backup.md",
      "docs/operations-upgrade.md",
      "docs/runbook.md",
      "docs/phone-registry.md",
      "docs/api.md",
      `${REFERENCE}/openapi.md`,
      "docs/errors.md",
      "docs/versioning.md",
      "docs/deploy.md",
      "docs/chains.md",
      "docs/ceremony.md",
      "docs/rehearsal.md",
    ],
  },
  {
    text: "Protocol",
    files: [
      "docs/protocol.md",
      "docs/origins.md",
      "docs/interface.md",
      "docs/circuits.md",
      "docs/properties.md",
      "docs/mutation.md",
      "docs/certificate.md",
      "docs/performance.md",
    ],
  },
  {
    text: "Contribute",
    files: [
      "CONTRIBUTING.md",
      "docs/architecture.md",
      "docs/development.md",
      "docs/release.md",
      "docs/licences.md",
      "CHANGELOG.md",
      "SECURITY.md",
    ],
  },
];

/** The first heading of a page. */
export function titleOf(path: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, path), "utf8"))?.[1];
  if (heading === undefined) throw new Error(`${path} has no heading`);
  return heading.replaceAll("\\", "");
}

const exists = (path: string): boolean => existsSync(join(root, path));
const link = (path: string): string => `/${addressOf(path).replace(/\.md$/, "")}`;

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Item[];
}

/** The page that TypeDoc makes for an entry point: a module with namespaces has a folder. */
export const referenceOf = (name: string): string =>
  [`${REFERENCE}/${name}.md`, `${REFERENCE}/${name}/index.md`].find(exists) ?? `${REFERENCE}/${name}.md`;

/** The README of each package, with its entry points below it. */
function packages(): Item[] {
  const entries = entryPoints();
  return globSync("packages/*/README.md", { cwd: root })
    .sort()
    .map((readme) => {
      const items = entries
        .filter(({ folder }) => readme === `${folder}/README.md`)
        .map(({ name }) => ({ text: name, link: link(referenceOf(name)) }));
      const text = readme.split("/")[1]!;
      return { text, link: link(readme), ...(items.length > 0 ? { items, collapsed: true } : {}) };
    });
}

/** The sidebar, in the format of VitePress. */
export function sidebar(): Item[] {
  const groups = GROUPS.map(({ text, files }) => ({
    text,
    items: files.map((path) => ({ text: titleOf(path), link: link(path) })),
  }));
  return [...groups, { text: "Packages", items: packages() }];
}
