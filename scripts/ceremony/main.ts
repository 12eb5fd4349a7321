// `pnpm ceremony COMMAND`: keys that deserve trust. docs/ceremony.md says who does what, and why.
import { existsSync, mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { buildBn128 } from "ffjavascript";
import { writeAtomically } from "../circuits/files.ts";
import {
  artifactPaths,
  buildDirectory,
  type CircuitName,
  circuitNames,
  circuitsDirectory,
  root,
} from "../circuits/paths.ts";
import { generate } from "../generate/generated-file.ts";
import { generateLock } from "../generate/lock.ts";
import { CommandError, parseOptions, runCommand } from "../lib/command.ts";
import { ceremonyFile, readCeremony } from "../setup/sets.ts";
import { renderVerifier, verifierPath } from "../setup/verifiers/export.ts";
import { stopSnarkjs } from "../setup/verifiers/stop-snarkjs.ts";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon } from "./ceremony.ts";
import { assertCompiled, assertTheseCircuits } from "./circuits.ts";
import { download } from "./download.ts";
import { type FinalPlace, finalise, verifyCeremony } from "./final.ts";
import { assertOwnNames } from "./names.ts";
import { openCeremony, roundFolder } from "./place.ts";
import { makePracticePtau } from "./practice.ts";
import { PTAU_ADDRESS, PTAU_HASHES, ptauFileName } from "./ptau-list.ts";
import type { Transcript } from "./shape.ts";
import { setName, writeTranscript } from "./transcript.ts";

const WORK = join(root, ".sotto", "ceremony");
/** What the largest circuit, withdrawal, needs. */
const POWER = 16;
const DEFAULT_PTAU = join(WORK, ptauFileName(POWER));

const USAGE = `usage: pnpm ceremony COMMAND
  ptau [--power 16] [--url ADDRESS] [--to FILE]      downloads phase 1 and checks it
  practice --to FILE [--power 16]                    a worthless phase 1, for rehearsals
  new NAME [--ptau FILE] [--rehearsal yes]           begins: keys from phase 1
  contribute --by "YOUR NAME" --from FOLDER --to FOLDER   on any machine; FOLDER holds NAME.zkey of each circuit
  accept NAME --from FOLDER [--ptau FILE]            checks a contribution and writes it down
  beacon NAME --hash HEX --iterations N --source TEXT     ends the contributions
  finalise NAME [--ptau FILE]                        artifacts, verifiers, lock and transcript of the new set
  verify NAME [--ptau FILE] [--artifacts FOLDER]     checks a finished set from its transcript alone
`;

const tell = (line: string): void => console.error(`ceremony: ${line}`);

async function placeOf(name: string): Promise<FinalPlace> {
  return {
    folder: join(WORK, name),
    circuits: circuitNames.map((circuit) => ({ name: circuit, r1cs: artifactPaths(circuit).r1cs })),
    curve: await buildBn128(true),
    tell,
    verifier: (circuit, zkey, set) => renderVerifier(circuit as CircuitName, set, zkey),
  };
}

const OPTIONS = [
  "ptau",
  "power",
  "url",
  "to",
  "from",
  "by",
  "hash",
  "iterations",
  "source",
  "artifacts",
  "rehearsal",
] as const;
type Options = Partial<Record<(typeof OPTIONS)[number], string>>;

const required = (options: Options, name: keyof Options): string => {
  const value = options[name];
  if (value !== undefined) return value;
  throw new CommandError("OPTION_MISSING", `--${name} is missing\n${USAGE}`);
};

const artifactsOf = (set: string): string => join(buildDirectory, ...set.split("/"));
const publishedAt = (set: string): string => join(circuitsDirectory, ceremonyFile(set));
/** As a user types it here. */
const shown = (path: string): string => (relative(".", path).startsWith("..") ? path : relative(".", path));

async function fetchPtau({ power = String(POWER), url, to }: Options): Promise<void> {
  const file = ptauFileName(Number(power));
  const target = resolve(to ?? join(WORK, file));
  mkdirSync(join(target, ".."), { recursive: true });
  let last = 0;
  await download(url ?? `${PTAU_ADDRESS}/${file}`, target, PTAU_HASHES[Number(power)]!, (bytes, total) => {
    const now = Math.floor(bytes / 1e6);
    if (now - last < 10) return;
    last = now;
    tell(`${now} MB${total === undefined ? "" : ` of ${Math.ceil(total / 1e6)} MB`}`);
  });
  tell(`${shown(target)} is the file of the public ceremony`);
}

/** Writes the artifacts, and what the tree keeps of a ceremony. */
async function finish(place: FinalPlace, name: string, ptau: string): Promise<void> {
  const { set } = openCeremony(place);
  assertOwnNames(set);
  const to = artifactsOf(set);
  const { transcript, verifiers } = await finalise(place, ptau, to);
  writeTranscript(publishedAt(set), transcript);
  tell(`artifacts in ${shown(to)}, transcript in ${shown(publishedAt(set))}`);
  for (const [circuit, source] of Object.entries(verifiers))
    writeAtomically(verifierPath(circuit as CircuitName, set)!, source);
  tell(`lock: ${await generate([generateLock], false)}`);
  if (set.startsWith("rehearsal/")) return tell("a rehearsal: its keys are worth nothing; commit none of it");
  tell(`check it as everybody will, from the circuits on: pnpm ceremony verify ${name}; only then`);
  tell("commit the transcript, the verifiers and the generated lock, and publish the artifacts");
}

/** The tree's transcript of a finished set. */
function finished(name: string): Transcript {
  const [ceremony, rehearsal] = [publishedAt(setName(name, false)), publishedAt(setName(name, true))];
  return readCeremony(existsSync(rehearsal) && !existsSync(ceremony) ? rehearsal : ceremony);
}

async function command(action: string | undefined, args: string[]): Promise<void> {
  const name = args[0]?.startsWith("--") ? undefined : args[0];
  if (name !== undefined) setName(name, false);
  const options = parseOptions(name === undefined ? args : args.slice(1), OPTIONS);
  const ptau = resolve(options.ptau ?? DEFAULT_PTAU);
  const place = async (): Promise<FinalPlace> => {
    if (name === undefined) throw new CommandError("OPTION_MISSING", `the ceremony's name is missing\n${USAGE}`);
    return placeOf(name);
  };
  switch (action) {
    case "ptau":
      return fetchPtau(options);
    case "practice": {
      const to = resolve(required(options, "to"));
      tell("making a phase 1 that is worth nothing: about half a minute");
      await makePracticePtau(Number(options.power ?? POWER), to);
      return tell(`${shown(to)} is there, for rehearsals`);
    }
    case "new": {
      const begun = await place();
      const set = setName(name!, options.rehearsal === "yes");
      assertOwnNames(set);
      assertCompiled();
      await beginCeremony(begun, set, ptau);
      return tell(`send ${shown(roundFolder(begun, 0))} to the first contributor`);
    }
    case "contribute": {
      const [from, to] = [resolve(required(options, "from")), resolve(required(options, "to"))];
      const hashes = await contributeTo(from, to, required(options, "by"), await placeOf("contributor"));
      for (const [circuit, hash] of Object.entries(hashes)) console.log(`${circuit} ${hash}`);
      return tell(`publish these hashes, and send ${shown(to)} back`);
    }
    case "accept": {
      const ceremony = await place();
      const round = await acceptRound(ceremony, ptau, resolve(required(options, "from")));
      const next = roundFolder(ceremony, openCeremony(ceremony).rounds.length);
      return tell(`${round.contributor}'s contribution is in; the next one begins with ${shown(next)}`);
    }
    case "beacon": {
      const [hash, source] = [required(options, "hash"), required(options, "source")];
      await endWithBeacon(await place(), { hash, source, iterations: Number(required(options, "iterations")) });
      return tell(`no more contributions: pnpm ceremony finalise ${name}`);
    }
    case "finalise":
      assertCompiled();
      return finish(await place(), name!, ptau);
    case "verify": {
      const ceremony = await place();
      const transcript = finished(name!);
      const { set, rounds } = transcript;
      assertTheseCircuits(transcript);
      await verifyCeremony(ceremony, transcript, ptau, resolve(options.artifacts ?? artifactsOf(set)));
      tell(`${set}: every key follows from its circuit; one of these, at least, has to be honest:`);
      for (const { contributor, beacon } of rounds)
        tell(beacon === undefined ? contributor : `then the beacon ${beacon.hash}: ${beacon.source}`);
      return;
    }
    default:
      throw new CommandError("COMMAND_UNKNOWN", `unknown command "${action ?? ""}"\n${USAGE}`);
  }
}

await runCommand(async () => {
  const [action, ...args] = process.argv.slice(2);
  if (action === undefined) return void process.stdout.write(USAGE);
  try {
    await command(action, args);
  } finally {
    await stopSnarkjs();
  }
});
