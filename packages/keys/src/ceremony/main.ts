// `pnpm ceremony COMMAND`: makes production keys. docs/ceremony.md describes the roles and steps.
import { existsSync, mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { CommandError, parseOptions, runCommand } from "@sotto/command/command";
import { buildBn128 } from "ffjavascript";
import { writeAtomically } from "../circuits/files.ts";
import { artifactPaths, buildFolder, type CircuitName, circuitNames, circuitsFolder, root } from "../circuits/paths.ts";
import { generate } from "../generate/generated-file.ts";
import { ceremonyFile, readCeremony } from "../sets/sets.ts";
import { setName, writeTranscript } from "../sets/transcript.ts";
import type { Transcript } from "../sets/transcript-schema.ts";
import { generateLock } from "../setup/lock-source.ts";
import { renderVerifier, verifierPath } from "../verifiers/export.ts";
import { stopSnarkjs } from "../verifiers/stop-snarkjs.ts";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon } from "./ceremony.ts";
import { assertCircuitsMatch, assertCompiled } from "./circuits.ts";
import { openCeremony, roundFolder } from "./context.ts";
import { download } from "./download.ts";
import { type FinalContext, finalize, verifyCeremony } from "./finalize.ts";
import { makePracticePtau } from "./practice.ts";
import { PTAU_ADDRESS, PTAU_HASHES, ptauFileName } from "./ptau-list.ts";
import { assertUniqueVerifierNames } from "./verifier-names.ts";

const WORK = join(root, ".sotto", "ceremony");
/** log2 of the phase 1 size that the largest circuit, withdrawal, needs. */
const POWER = 16;
const DEFAULT_PTAU = join(WORK, ptauFileName(POWER));

const USAGE = `usage: pnpm ceremony COMMAND
  ptau [--power 16] [--url ADDRESS] [--to FILE]      downloads phase 1 and checks its hash
  practice --to FILE [--power 16]                    makes an insecure phase 1 for rehearsals
  new NAME [--ptau FILE] [--rehearsal yes]           starts a ceremony: makes the keys without contributions
  contribute --by "YOUR NAME" --from FOLDER --to FOLDER   adds a contribution to each CIRCUIT.zkey in FOLDER
  accept NAME --from FOLDER [--ptau FILE]            checks a contribution and records it
  beacon NAME --hash HEX --iterations N --source TEXT     applies the beacon; ends the contributions
  finalize NAME [--ptau FILE]                        writes artifacts, verifiers, lock and transcript
  verify NAME [--ptau FILE] [--artifacts FOLDER]     checks a finished ceremony
`;

const report = (line: string): void => console.error(`ceremony: ${line}`);

async function contextOf(name: string): Promise<FinalContext> {
  return {
    folder: join(WORK, name),
    circuits: circuitNames.map((circuit) => ({ name: circuit, r1cs: artifactPaths(circuit).r1cs })),
    curve: await buildBn128(true),
    report,
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

const artifactsOf = (set: string): string => join(buildFolder, ...set.split("/"));
const publishedAt = (set: string): string => join(circuitsFolder, ceremonyFile(set));
/** The path relative to the working directory, as the user would type it. */
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
    report(`${now} MB${total === undefined ? "" : ` of ${Math.ceil(total / 1e6)} MB`}`);
  });
  report(`${shown(target)} matches the public ceremony's hash`);
}

/** Writes the artifacts, and the files to commit: transcript, verifiers and lock. */
async function finish(context: FinalContext, name: string, ptau: string): Promise<void> {
  const { set } = openCeremony(context);
  assertUniqueVerifierNames(set);
  const to = artifactsOf(set);
  const { transcript, verifiers } = await finalize(context, ptau, to);
  writeTranscript(publishedAt(set), transcript);
  report(`artifacts in ${shown(to)}, transcript in ${shown(publishedAt(set))}`);
  for (const [circuit, source] of Object.entries(verifiers))
    writeAtomically(verifierPath(circuit as CircuitName, set)!, source);
  report(`lock: ${await generate([generateLock], false)}`);
  if (set.startsWith("rehearsal/"))
    return report("this was a rehearsal: the keys are insecure; do not commit these files");
  report(`check the result: pnpm ceremony verify ${name}`);
  report("then commit the transcript, the verifiers and the generated lock, and publish the artifacts");
}

/** Reads a finished ceremony's committed transcript. */
function finished(name: string): Transcript {
  const [ceremony, rehearsal] = [publishedAt(setName(name, false)), publishedAt(setName(name, true))];
  return readCeremony(existsSync(rehearsal) && !existsSync(ceremony) ? rehearsal : ceremony);
}

async function command(action: string | undefined, args: string[]): Promise<void> {
  const name = args[0]?.startsWith("--") ? undefined : args[0];
  if (name !== undefined) setName(name, false);
  const options = parseOptions(name === undefined ? args : args.slice(1), OPTIONS);
  const ptau = resolve(options.ptau ?? DEFAULT_PTAU);
  const context = async (): Promise<FinalContext> => {
    if (name === undefined) throw new CommandError("OPTION_MISSING", `the ceremony's name is missing\n${USAGE}`);
    return contextOf(name);
  };
  switch (action) {
    case "ptau":
      return fetchPtau(options);
    case "practice": {
      const to = resolve(required(options, "to"));
      report("making an insecure phase 1, about half a minute");
      await makePracticePtau(Number(options.power ?? POWER), to);
      return report(`wrote ${shown(to)}, for rehearsals only`);
    }
    case "new": {
      const begun = await context();
      const set = setName(name!, options.rehearsal === "yes");
      assertUniqueVerifierNames(set);
      assertCompiled();
      await beginCeremony(begun, set, ptau);
      return report(`send ${shown(roundFolder(begun, 0))} to the first contributor`);
    }
    case "contribute": {
      const [from, to] = [resolve(required(options, "from")), resolve(required(options, "to"))];
      const hashes = await contributeTo(from, to, required(options, "by"), await contextOf("contributor"));
      for (const [circuit, hash] of Object.entries(hashes)) console.log(`${circuit} ${hash}`);
      return report(`publish these hashes, and send ${shown(to)} back`);
    }
    case "accept": {
      const ceremony = await context();
      const round = await acceptRound(ceremony, ptau, resolve(required(options, "from")));
      const next = roundFolder(ceremony, openCeremony(ceremony).rounds.length);
      return report(`accepted the contribution of ${round.contributor}; send ${shown(next)} to the next contributor`);
    }
    case "beacon": {
      const [hash, source] = [required(options, "hash"), required(options, "source")];
      await endWithBeacon(await context(), { hash, source, iterations: Number(required(options, "iterations")) });
      return report(`applied the beacon; next: pnpm ceremony finalize ${name}`);
    }
    case "finalize":
      assertCompiled();
      return finish(await context(), name!, ptau);
    case "verify": {
      const ceremony = await context();
      const transcript = finished(name!);
      const { set, rounds } = transcript;
      assertCircuitsMatch(transcript);
      await verifyCeremony(ceremony, transcript, ptau, resolve(options.artifacts ?? artifactsOf(set)));
      report(`${set} is valid. Its keys are secure if at least one of these contributors was honest:`);
      for (const { contributor, beacon } of rounds)
        report(beacon === undefined ? contributor : `beacon ${beacon.hash}: ${beacon.source}`);
      return;
    }
    default:
      throw new CommandError("COMMAND_UNKNOWN", `unknown command "${action ?? ""}"\n${USAGE}`);
  }
}

/** Runs a command with its arguments. @throws CommandError */
export async function runCeremony([action, ...args]: string[]): Promise<void> {
  if (action === undefined) return void process.stdout.write(USAGE);
  try {
    await command(action, args);
  } finally {
    await stopSnarkjs();
  }
}

if (import.meta.main) await runCommand(() => runCeremony(process.argv.slice(2)));
