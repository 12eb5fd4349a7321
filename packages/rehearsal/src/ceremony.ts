// The ceremony: what the coordinator and three contributors type, each with folders of their own. An interrupted ceremony is
// resumed, and a verified one is kept.

import { randomBytes } from "node:crypto";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@sotto/command/command";
import { say } from "@sotto/command/terminal";
import { sha256File, toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { artifactPaths, circuitNames } from "@sotto/keys/circuits/paths";
import { readTranscript, writeTranscript } from "@sotto/keys/sets/transcript";
import type { Transcript } from "@sotto/keys/sets/transcript-schema";
import { npmRun } from "./programs.ts";
import type { Rehearsal } from "./rehearsal.ts";

const NAME = "production";
/** The set of keys that the ceremony makes. */
export const SET = `rehearsal/${NAME}`;
const CONTRIBUTORS = ["Ada Lovelace", "Grace Hopper", "Emmy Noether"] as const;
/** Names of files and folders, as commands in the copy name them. */
const PHASE1 = "../phase1.ptau";

const numbered = (round: number): string => String(round).padStart(4, "0");
const folderOf = (contributor: string): string => contributor.split(" ")[0]!.toLowerCase();

/** @throws CommandError REHEARSAL_FAILED */
export async function holdCeremony({ screen, copy, folder, programs }: Rehearsal, isFresh: boolean): Promise<void> {
  const work = join(copy, ".sotto", "ceremony", NAME);
  const file = join(work, "transcript.json");
  const stamp = join(folder, "verified.json");
  const transcript = (): Transcript | undefined => (existsSync(file) ? readTranscript(file) : undefined);
  const rounds = (): number => transcript()?.rounds.length ?? 0;
  const ceremony = (...args: readonly string[]) => programs.run(npmRun("ceremony", ...args));

  const earlier = transcript();
  if (earlier !== undefined && circuitsDiffer(earlier, copy)) rmSync(work, { recursive: true, force: true });
  const before = transcript();
  if (isFresh && before !== undefined) {
    // Only the contributions are repeated: the keys without any are the same each time.
    writeTranscript(file, { ...before, rounds: [] });
    for (const [index] of before.rounds.entries())
      rmSync(join(work, "rounds", numbered(index + 1)), { recursive: true, force: true });
  }
  if (existsSync(join(folder, "phase1.ptau"))) say(screen, "Phase 1 of an earlier rehearsal is kept.");
  else await ceremony("practice", "--to", PHASE1);
  await programs.refused(
    "a real ceremony with this phase 1",
    ["PTAU_UNKNOWN"],
    npmRun("ceremony", "new", "launch", "--ptau", PHASE1),
  );
  const begun = circuitNames.every((name) => transcript()?.circuits[name] !== undefined);
  if (begun && rounds() > 0)
    say(screen, `The ceremony of an earlier rehearsal is kept; --fresh yes holds another one.`);
  if (!begun) await ceremony("new", NAME, "--ptau", PHASE1, "--rehearsal", "yes");

  for (const [index, contributor] of CONTRIBUTORS.entries()) {
    if (rounds() > index) continue;
    const home = `../contributors/${folderOf(contributor)}`;
    const [from, to] = [`${home}/${numbered(index)}`, `${home}/${numbered(index + 1)}`];
    const received = `../received/${numbered(index + 1)}-${folderOf(contributor)}`;
    for (const path of [home, received]) rmSync(join(copy, path), { recursive: true, force: true });
    // The files are sent around by any means.
    cpSync(join(work, "rounds", numbered(index)), join(copy, from), { recursive: true });
    const { stdout } = await ceremony("contribute", "--by", contributor, "--from", from, "--to", to);
    cpSync(join(copy, to), join(copy, received), { recursive: true });
    await ceremony("accept", NAME, "--from", received, "--ptau", PHASE1);
    assertPublished(transcript(), index, stdout);
    for (const path of [home, received]) rmSync(join(copy, path), { recursive: true, force: true });
  }
  if (transcript()?.rounds.at(-1)?.beacon === undefined) {
    const beacon = ["--hash", randomBytes(32).toString("hex"), "--iterations", "10"];
    await ceremony("beacon", NAME, ...beacon, "--source", "random bytes of a rehearsal");
  }
  // Repeated each time: it writes the keys, the verifiers and the lock into the copy, which follows the checkout.
  await ceremony("finalize", NAME, "--ptau", PHASE1);
  const result = sha256File(join(copy, "circuits", "ceremonies", `${SET}.json`));
  if (existsSync(stamp) && readFileSync(stamp, "utf8").includes(result)) {
    say(screen, "An earlier rehearsal has verified these keys.");
    return;
  }
  await ceremony("verify", NAME, "--ptau", PHASE1);
  writeAtomically(stamp, toJson({ transcript: result }));
}

/**
 * Whether a ceremony cannot be resumed with the circuits of the copy: one has changed, or was added after the first contribution.
 * Without contributions, `new` makes the keys that are missing.
 */
export function circuitsDiffer({ circuits, rounds }: Pick<Transcript, "circuits" | "rounds">, copy: string): boolean {
  return circuitNames.some((name) => {
    const made = circuits[name]?.r1cs;
    if (made === undefined) return rounds.length > 0;
    return made !== sha256File(artifactPaths(name, join(copy, "circuits", "build", name)).r1cs);
  });
}

/** Compares the hashes that a contributor published with the transcript, as contributors do. */
function assertPublished(transcript: Transcript | undefined, index: number, published: string): void {
  for (const [circuit, { contribution }] of Object.entries(transcript?.rounds[index]?.hashes ?? {}))
    if (!published.includes(`${circuit} ${contribution}`))
      throw new CommandError("REHEARSAL_FAILED", `the transcript lacks the published hash of ${circuit}`);
}
