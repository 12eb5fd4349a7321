import type { Mutant } from "./mutate.ts";

const HEAD = `# What each constraint is for

Every group of constraints in \`circuits/\` carries a tag \`[C:id]\` with its reason. \`pnpm test:mutation\` takes each group
away (\`===\` dropped, \`<==\` weakened to \`<--\`), compiles what is left with \`--O2\`, and shows that a test fails: an attack
that the circuit refuses as it ships is accepted without the group. It writes this table; \`npm test\` compares it with the
tags. How an attack is made, and what it has to show besides, is in \`circuits/test/README.md\`.

| group | file | reason | caught by the test that the circuit |
|---|---|---|---|
`;

const cell = (text: string) => text.replaceAll("|", "\\|");

/** docs/mutation.md, one row for each group in the order of the sources. */
export function table(mutants: readonly Mutant[]): string {
  const rows = mutants.map(({ tag, caught }) => {
    const more = caught.length > 1 ? ` (and ${caught.length - 1} more)` : "";
    return `| \`${tag.id}\` | ${tag.file} | ${cell(tag.reason)} | ${cell(caught[0] as string)}${more} |`;
  });
  return `${HEAD}${rows.join("\n")}\n`;
}
