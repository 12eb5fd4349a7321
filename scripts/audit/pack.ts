import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "@sotto/keys/circuits/paths";
import { parseReport } from "../test/report.ts";
import { type SourceFile, scopeTable } from "./scope.ts";
import { section } from "./section.ts";

/** A result that has to be produced before it can be included. */
interface Missing {
  readonly what: string;
  readonly command: string;
}

/** A part of the pack: a file, or undefined with what is missing. */
interface Part {
  readonly title: string;
  /** How to reproduce it. */
  readonly command: string;
  /** Files of the checkout to copy. */
  readonly files?: readonly string[];
  /** Content of a Markdown file of its own. */
  readonly text?: string | undefined;
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const list = (...patterns: string[]): string[] => globSync(patterns, { cwd: root }).toSorted();

const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** Files that an audit covers: contracts that are deployed, circuits, and what computes their inputs. */
function scope(): SourceFile[] {
  const paths = [
    ...list("contracts/*.sol", "contracts/{interfaces,libraries,signatures,verifiers}/*.sol"),
    ...list("circuits/*.circom", "circuits/lib/*.circom"),
    ...list("packages/protocol/src/**/*.ts").filter((path) => !path.includes("/generated/")),
  ];
  return paths.map((path) => ({ path, content: read(path) }));
}

const RESULTS = "test/fuzz/.fuzz/results.json";

interface FuzzResult {
  readonly contract: string;
  readonly test: string;
  readonly passed: boolean;
  readonly reason?: string;
  readonly runs: number;
  readonly calls: number;
  readonly reverts: number;
}

function fuzzResults(): string | undefined {
  if (!existsSync(join(root, RESULTS))) return undefined;
  const { properties, seeded } = JSON.parse(read(RESULTS)) as { properties: FuzzResult[]; seeded: FuzzResult[] };
  const row = ({ contract, test, passed, reason, runs, calls, reverts }: FuzzResult) =>
    `| ${contract} | ${test} | ${passed ? "holds" : `broken: ${reason ?? "unknown"}`} | ${runs} | ${calls} | ${reverts} |`;
  const table = (results: readonly FuzzResult[]) =>
    [
      "| contract | test | result | sequences | calls | reverted |",
      "|---|---|---|---|---|---|",
      ...results.map(row),
    ].join("\n");
  return `# Results of the fuzzer

## Properties

${table(properties)}

## Seeded bugs

Each must be found, so "broken" is the expected result. Sequences and calls are those before the bug was found.

${table(seeded)}
`;
}

/** The passed tests of the suites about contracts, circuits and protocol, from their last run. */
function testResults(): string | undefined {
  const suites = [
    "test/contracts",
    "test/fuzz",
    "circuits",
    "packages/protocol",
    "packages/groth16",
    "packages/prover",
  ];
  const reports = suites.flatMap((folder) => list(`${folder}/.test/test*.jsonl`));
  if (reports.length === 0) return undefined;
  const lines = reports.map((path) => {
    const { passed, failed, exit } = parseReport(read(path));
    const state = exit === undefined ? ", not complete" : "";
    return `| ${path} | ${passed.length} | ${failed.length}${state} |`;
  });
  return `# Results of the tests\n\n| report | passed | failed |\n|---|---|---|\n${lines.join("\n")}\n`;
}

function parts(): Part[] {
  const protocol = read("docs/protocol.md");
  const security = read("SECURITY.md");
  const coverage = "coverage/lcov.info";
  const certificates = list("circuits/certificates/*.json");
  const present = (path: string): string[] => (existsSync(join(root, path)) ? [path] : []);
  return [
    { title: "scope", command: "npm run audit:pack", text: scopeTable(scope()) },
    { title: "properties of the contracts", command: "npm test fuzz", files: ["docs/properties.md"] },
    {
      title: "threat model",
      command: "docs/protocol.md",
      text: `# Threat model\n\n${["Promises", "Who sees what", "Arguments"].map((name) => section(protocol, name)).join("\n\n")}\n`,
    },
    {
      title: "assumptions",
      command: "SECURITY.md, docs/protocol.md",
      text: `# Assumptions\n\n${section(security, "What we rely on")}\n\n${section(protocol, "Trusted setup")}\n`,
    },
    {
      title: "known issues",
      command: "docs/protocol.md",
      text: `# Known issues\n\n${section(protocol, "What is not protected")}\n\n${section(read("docs/properties.md"), "What they do not say")}\n`,
    },
    { title: "specification", command: "docs/protocol.md", files: ["docs/protocol.md", "docs/circuits.md"] },
    {
      title: "certificate of the circuits",
      command: "npm run certify",
      files: [...present("docs/certificate.md"), ...certificates],
    },
    { title: "results of the tests", command: "npm test", text: testResults() },
    { title: "results of the fuzzer", command: "npm test fuzz", text: fuzzResults() },
    { title: "results of the mutation tests", command: "npm run test:mutation", files: ["docs/mutation.md"] },
    {
      title: "coverage of the contracts",
      command: "npm run hardhat -- --coverage test mocha",
      files: present(coverage),
    },
    { title: "gas", command: "npm test contracts", files: ["test/contracts/gas.snapshot.json"] },
    {
      title: "hashes of keys and circuits",
      command: "npm run check:generated",
      files: ["circuits/artifacts.lock.json"],
    },
  ];
}

/** Writes .audit/ anew. @returns its path, and what could not be included because it was not run */
export function writePack(folder = join(root, ".audit")): { folder: string; missing: Missing[] } {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const missing: Missing[] = [];
  const rows = parts().map(({ title, command, files = [], text }) => {
    const names = files.map((path) => {
      const name = path.startsWith("circuits/certificates/") ? `certificate-${basename(path)}` : basename(path);
      copyFileSync(join(root, path), join(folder, name));
      return name;
    });
    if (text !== undefined) {
      const name = `${title.replaceAll(" ", "-")}.md`;
      writeFileSync(join(folder, name), text);
      names.push(name);
    }
    if (names.length === 0) missing.push({ what: title, command });
    const shown =
      names.length === 0 ? "not included: it was not run" : names.map((name) => `[${name}](${name})`).join(", ");
    return `| ${title} | ${shown} | \`${command}\` |`;
  });
  const changed = git("status", "--porcelain") === "" ? "" : ", with uncommitted changes";
  const head = `# Audit pack of sotto

Commit ${git("rev-parse", "HEAD")}${changed}. \`npm run audit:pack\` wrote these files. To start from nothing, clone the commit and run
\`npm test\`, which installs everything it needs, and then the commands of the last column.

| part | files | source, or command that reproduces it |
|---|---|---|
`;
  writeFileSync(join(folder, "README.md"), `${head}${rows.join("\n")}\n`);
  return { folder, missing };
}
