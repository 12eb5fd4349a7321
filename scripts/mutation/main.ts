// node scripts/mutation/main.ts [PREFIX ...]: removes each constraint group of the circuits (all, or those whose id starts
// with a prefix), compiles the rest with the shipped flags, and checks that a test in circuits/test/soundness fails because
// the circuit now accepts its attack. Writes docs/mutation.md; a run on a subset of the groups keeps the other rows.
// Exits with 1 if no test guards a group, or if no group matches.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, errorLine } from "@sotto/command/command";
import { root } from "@sotto/keys/circuits/paths";
import { readSources } from "@sotto/keys/source/sources";
import { readTags, type Tag } from "@sotto/keys/source/tags";
import { Cheaters } from "../../circuits/test/kit/cheaters.ts";
import { attacks } from "../../circuits/test/soundness/all.ts";
import { type Mutant, mutate } from "./mutate.ts";
import { describeTests, table, testsOf } from "./table.ts";

const prefixes = process.argv.slice(2);
const sources = readSources();
const cheaters = new Cheaters(sources, attacks);
const tags = readTags(sources);
const chosen = tags.filter(({ id }) => prefixes.length === 0 || prefixes.some((prefix) => id.startsWith(prefix)));
if (chosen.length === 0) {
  const known = tags.map(({ id }) => id).join(", ");
  const message = `no constraint group starts with "${prefixes.join('" or "')}"; there are ${known}`;
  console.error(errorLine(new CommandError("GROUP_UNKNOWN", message)));
  process.exit(1);
}

const start = performance.now();
let done = 0;

async function report(tag: Tag): Promise<Mutant> {
  const mutant = await mutate(cheaters, tag);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const verdict = mutant.caught.length > 0 ? `caught by ${mutant.caught.length}` : `SURVIVED: ${mutant.why}`;
  console.log(`${String(++done).padStart(3)}/${chosen.length} ${seconds.padStart(4)} s  ${tag.id}: ${verdict}`);
  return mutant;
}

const mutants = await Promise.all(chosen.map(report));
const survivors = mutants.filter(({ caught }) => caught.length === 0);
console.log(`${mutants.length - survivors.length} of ${mutants.length} constraint groups are guarded by a test`);
if (survivors.length > 0) process.exit(1);

const path = join(root, "docs", "mutation.md");
const tests = existsSync(path) ? testsOf(readFileSync(path, "utf8")) : new Map<string, string>();
for (const { tag, caught } of mutants) tests.set(tag.id, describeTests(caught));
const document = table(tags, tests);
if (document === undefined)
  console.log("docs/mutation.md was not written, because it lacks other groups; run the command without a prefix");
else writeFileSync(path, document);
