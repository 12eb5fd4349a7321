// The words of docs/glossary.md that were replaced, and the phrases that readers stumble over. Both are counted
// in every file that git tracks or would track; the check fails if either count exceeds its limit.
//
// Usage: node scripts/checks/vocabulary.ts [PATH ...]   with paths: also prints every finding in them
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The lines that may match. Lower them when fewer do; never raise them. */
const LIMITS = { terms: 0, prose: 0 };

interface Term {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly use: string;
}

/** Matches a word alone, in the plural, and as a part of camelCase and of UPPER_CASE names. */
const word = (singular: string): RegExp => {
  const capitalized = singular[0]!.toUpperCase() + singular.slice(1);
  return new RegExp(
    `(?<![A-Za-z])${singular}s?(?![a-z])|${capitalized}s?(?![a-z])|(?<![A-Z])${singular.toUpperCase()}S?(?![A-Za-z])`,
  );
};

const TERMS: readonly Term[] = [
  { pattern: word("shop"), use: "resource server; merchant for the business" },
  { pattern: word("seller"), use: "recipient; merchant for the business" },
  { pattern: word("buyer"), use: "payer; client for the program" },
  { pattern: word("dialect"), use: "format" },
  { pattern: /[kK]eptBack|[kK]eepBack/, use: "deferred, defer" },
  { pattern: /[gG]iveBack/, use: "restore, undoTake, releaseReservation" },
  { pattern: /\btakeAlone\b/, use: "takeInTransaction" },
  { pattern: /\bstartOver\b/, use: "resetForNewChain" },
  { pattern: /\bPoolPlace\b/, use: "PoolDeployment" },
  { pattern: /\bWaker\b/, use: "WakeSignal" },
  { pattern: /\bQuietProvider\b/, use: "Chain" },
  { pattern: /\b(?:X402_)?(?:FRESH|SKEW)_MS\b/, use: "MAX_PAYMENT_AGE_MS, MAX_CLOCK_SKEW_MS" },
  { pattern: /\bexpectOneCiphertext\b/, use: "assertSameCiphertext" },
  { pattern: /\b(?:MOST|LEAST|LONGEST|FURTHEST|SHORTEST|LARGEST)_[A-Z]/, use: "MAX_… or MIN_…, with the unit" },
];

/** Sentences without an actor, riddles and old idioms: write subject, verb and object. */
const PROSE: readonly RegExp[] = [
  /(?:^|[.;:,(|*/] |\b(?:by|of|for|to|with|than|is|and|or|from|that) )[Ww]ho (?:is|has|have|holds|pays|paid|knows|asks|may|can|gets|shows|reads|runs|writes|wants)\b/,
  /\b(?:whatever|whoever|whichever)\b/,
  /\bfor ever\b/,
  /\b(?:is|are|was) no (?:answer|price|proof|point|bound|number|reason|mistake|other|key|cheque|good)\b/,
  /\b(?:goes|go|went) on\b/,
  /\bgiv(?:e|es|en) back\b|\bkept back\b|\bused? up\b/,
  /\b(?:is|was|are) (?:over|away|told)\b/,
  /\bstands? (?:in|before|for|behind|beside)\b/,
  /\bnobody in\b|\bof nobody\b|\bof one'?s own\b/,
  /\bat the (?:most|least|latest)\b/,
  /\b(?:MOST|LEAST|LONGEST|FURTHEST|SHORTEST)_[A-Z]/,
];

/** Files that are not searched: texts of others, and the lists of what is replaced. */
const EXEMPT =
  /^(?:(?:packages\/[\w-]+\/)?LICENSE|pnpm-lock\.yaml|docs\/glossary\.md|scripts\/checks\/(?:test\/)?vocabulary[.\w]*)$/;
/** In this folder a dialect is a driver of Kysely, which calls it that. */
const KYSELY_DIALECT = /^packages\/database\//;

export interface Finding {
  readonly kind: keyof typeof LIMITS;
  readonly text: string;
}

/** @param path relative to the checkout, with forward slashes */
export function findings(path: string, content: Buffer): Finding[] {
  if (EXEMPT.test(path) || content.includes(0)) return [];
  const text = content.toString("utf8");
  const allowed = [KYSELY_DIALECT.test(path) && "dialect"].filter(Boolean);
  const terms = TERMS.filter(({ pattern }) => !allowed.some((name) => pattern.test(String(name))));
  const found: Finding[] = [];
  for (const [index, line] of [path, ...text.split("\n")].entries()) {
    const where = index === 0 ? path : `${path}:${index}: ${line.trim()}`;
    const term = terms.find(({ pattern }) => pattern.test(line));
    if (term) found.push({ kind: "terms", text: `${where}  [write: ${term.use}]` });
    if (index > 0 && PROSE.some((pattern) => pattern.test(line))) found.push({ kind: "prose", text: where });
  }
  return found;
}

/** The folder whose row a path's findings are counted in. */
const area = (path: string): string =>
  path
    .split("/")
    .slice(0, path.startsWith("packages/") ? 2 : 1)
    .join("/");

if (import.meta.main) {
  const root = join(import.meta.dirname, "..", "..");
  const list = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const listed = process.argv.slice(2);
  const totals = { terms: 0, prose: 0 };
  const areas = new Map<string, typeof totals>();
  for (const path of list.toString("utf8").split("\0")) {
    if (path === "" || !existsSync(join(root, path)) || !statSync(join(root, path)).isFile()) continue;
    for (const { kind, text } of findings(path, readFileSync(join(root, path)))) {
      const counts = areas.get(area(path)) ?? { terms: 0, prose: 0 };
      areas.set(area(path), counts);
      counts[kind]++;
      totals[kind]++;
      if (listed.some((folder) => path === folder || path.startsWith(`${folder}/`))) console.log(text);
    }
  }
  for (const [name, { terms, prose }] of [...areas].sort(([one], [other]) => (one < other ? -1 : 1)))
    console.log(`${name.padEnd(28)} ${String(terms).padStart(5)} terms ${String(prose).padStart(5)} prose`);
  for (const kind of ["terms", "prose"] as const) {
    const problem = totals[kind] > LIMITS[kind];
    console.log(`${kind}: ${totals[kind]} lines, at most ${LIMITS[kind]}`);
    if (problem) console.error(`too many lines: list a folder's with \`node scripts/checks/vocabulary.ts FOLDER\``);
    if (problem) process.exitCode = 1;
  }
}
