// The transcript: the public record of a ceremony, with every hash that is needed to check its keys. It has no secrets.
import { existsSync, readFileSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { toJson, writeAtomically } from "../circuits/files.ts";
import type { Contributions } from "./contributions.ts";
import { assertTranscript, type Round, type Transcript } from "./transcript-schema.ts";

/** Strict, because the name becomes part of paths and of contract names. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** @returns the set's name, `ceremony/NAME` or `rehearsal/NAME` @throws CommandError NAME_INVALID */
export function setName(name: string, rehearsal: boolean): string {
  if (!NAME.test(name))
    throw new CommandError(
      "NAME_INVALID",
      `"${name}" is not a name for a ceremony: expected a to z, 0 to 9 and -, a letter first, at most 40 characters`,
    );
  return `${rehearsal ? "rehearsal" : "ceremony"}/${name}`;
}

/** @throws CommandError TRANSCRIPT_MISSING, TRANSCRIPT_DAMAGED */
export function readTranscript(path: string): Transcript {
  if (!existsSync(path)) throw new CommandError("TRANSCRIPT_MISSING", `there is no transcript at ${path}`);
  try {
    return assertTranscript(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    // The message may quote the file, whose control characters must not reach the terminal.
    const why = (cause as Error).message.replace(/\p{C}/gu, "?");
    throw new CommandError("TRANSCRIPT_DAMAGED", `${path} is not a valid transcript: ${why}`, { cause });
  }
}

/** Writes the transcript as JSON, and beside it as a Markdown page. */
export function writeTranscript(path: string, transcript: Transcript): void {
  writeAtomically(path, toJson(transcript));
  writeAtomically(path.replace(/\.json$/, ".md"), asMarkdown(transcript));
}

/**
 * Compares the contributions listed in a zkey with the rounds of a transcript.
 * @throws CommandError TRANSCRIPT_MISMATCH, with circuit and round
 */
export function compareContributions(circuit: string, found: Contributions, transcript: Transcript): void {
  const fail = (what: string): never => {
    throw new CommandError("TRANSCRIPT_MISMATCH", `${circuit}: ${what}`);
  };
  if (found.circuitHash !== transcript.circuits[circuit]?.circuitHash)
    fail("the zkey was made from other initial keys");
  const { rounds } = transcript;
  if (found.list.length !== rounds.length)
    fail(`the zkey has ${found.list.length} contributions, the transcript ${rounds.length}`);
  for (const [index, { name, hash, beacon }] of found.list.entries()) {
    const round = rounds[index]!;
    const same = name === round.contributor && hash === round.hashes[circuit]?.contribution;
    const drawn = beacon?.hash === round.beacon?.hash && beacon?.iterations === round.beacon?.iterations;
    if (!same || !drawn) fail(`contribution ${index + 1}, ${hash}, is not the one in the transcript`);
  }
}

function asMarkdown({ set, phase1, circuits, rounds, final }: Transcript): string {
  const worth = set.startsWith("rehearsal/") ? "\nThis was a rehearsal: these keys are worth nothing.\n" : "";
  const parts = [
    `# Transcript of ${set}\n${worth}`,
    `## Phase 1\n\n\`${phase1.file}\`, 2^${phase1.power} powers, BLAKE2b-512\n\n    ${phase1.blake2b}\n`,
    `## Circuits\n\n| circuit | SHA-256 of the r1cs | of the zkey before contributions |\n|---|---|---|\n${rows(circuits, ({ r1cs, zkey }) => [r1cs, zkey])}`,
    ...rounds.map((round, index) => roundAsMarkdown(round, index + 1)),
  ];
  if (final !== undefined)
    parts.push(
      `## Keys\n\n| circuit | SHA-256 of the zkey | of the verification key |\n|---|---|---|\n${rows(final, (f) => [f.zkey, f.vkey])}`,
    );
  return parts.join("\n");
}

function roundAsMarkdown({ contributor, beacon, hashes }: Round, number: number): string {
  const source =
    beacon === undefined
      ? ""
      : `Drawn from \`${beacon.hash}\`, hashed 2^${beacon.iterations} times: ${beacon.source}\n\n`;
  const table = `| circuit | contribution hash (BLAKE2b-512) |\n|---|---|\n${rows(hashes, (hash) => [hash.contribution])}`;
  return `## ${number}. ${beacon === undefined ? contributor : "Beacon"}\n\n${source}${table}`;
}

function rows<T>(table: Readonly<Record<string, T>>, cells: (entry: T) => string[]): string {
  const line = ([name, entry]: [string, T]) =>
    `| ${[name, ...cells(entry).map((cell) => `\`${cell}\``)].join(" | ")} |\n`;
  return Object.entries(table).map(line).join("");
}
