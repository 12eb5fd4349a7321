import type { Tag } from "@sotto/keys/source/tags";

const HEAD = `# What each constraint is for

Every group of constraints in \`circuits/\` has a tag \`[C:id]\` with its reason. \`pnpm test:mutation\` removes each group
(\`===\` dropped, \`<==\` weakened to \`<--\`), compiles the rest with \`--O2\`, and shows that a test fails: the circuit without
the group accepts an attack that the shipped circuit rejects. It writes this table, and \`npm test\` compares it with the
tags. \`circuits/test/README.md\` explains how an attack is made and what else it shows.

| group | file | reason | caught by the test that the circuit |
|---|---|---|---|
`;

const cell = (text: string) => text.replaceAll("|", "\\|");
const ROW = /^\| `([^`]+)` \| .* \| (.*?) \|$/;

/** The column of tests in an existing table, by group. */
export const testsOf = (document: string): Map<string, string> =>
  new Map(
    document
      .split("\n")
      .map((line) => ROW.exec(line))
      .filter((match) => match !== null)
      .map(([, id, tests]) => [id as string, tests as string]),
  );

/** The cell that lists the tests of a group. */
export const describeTests = (titles: readonly string[]): string =>
  cell(titles[0] as string) + (titles.length > 1 ? ` (and ${titles.length - 1} more)` : "");

/** docs/mutation.md, with a row for each group in the order of the sources. Undefined if a group has no test yet. */
export function table(tags: readonly Tag[], tests: ReadonlyMap<string, string>): string | undefined {
  if (tags.some(({ id }) => !tests.has(id))) return undefined;
  const rows = tags.map(({ id, file, reason }) => `| \`${id}\` | ${file} | ${cell(reason)} | ${tests.get(id)} |`);
  return `${HEAD}${rows.join("\n")}\n`;
}
