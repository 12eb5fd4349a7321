// node steps.ts FOLDER R1CS PTAU LINES: a ceremony of the toy from wherever it is to its end, as people would go on with it
// who only see which folders are there. Every step is told on standard output, and after so many it is killed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildBn128 } from "ffjavascript";
import { runCommand } from "../../../lib/command.ts";
import { stopSnarkjs } from "../../../setup/verifiers/stop-snarkjs.ts";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon, openCeremony, roundFolder } from "../../ceremony.ts";
import { type FinalPlace, finalise } from "../../final.ts";
import { writeTranscript } from "../../transcript.ts";

export const toyPlace = async (folder: string, r1cs: string, tell: (line: string) => void): Promise<FinalPlace> => ({
  folder: join(folder, "toy"),
  circuits: [{ name: "toy", r1cs }],
  curve: await buildBn128(true),
  tell,
  verifier: async () => undefined,
});

const BEACON = { hash: "ab".repeat(32), iterations: 10, source: "drand, round 4711" };

async function goOn(folder: string, r1cs: string, ptau: string, lines: number): Promise<void> {
  let told = 0;
  const place = await toyPlace(folder, r1cs, (line) => {
    process.stdout.write(`${line}\n`);
    told += 1;
    if (told === lines) process.kill(process.pid, "SIGKILL");
  });
  const rounds = () => openCeremony(place).rounds;
  if (!existsSync(join(place.folder, "transcript.json"))) await beginCeremony(place, "rehearsal/toy", ptau);
  for (const [index, who] of ["ada", "grace"].entries()) {
    const sent = join(folder, who);
    if (!existsSync(sent)) await contributeTo(roundFolder(place, index), sent, who, place);
    if (rounds().length <= index + 1) await acceptRound(place, ptau, sent);
  }
  if (rounds().at(-1)?.kind !== "beacon") await endWithBeacon(place, BEACON);
  writeTranscript(join(folder, "published.json"), await finalise(place, ptau, join(folder, "final")));
}

if (import.meta.main)
  await runCommand(async () => {
    const [folder = "", r1cs = "", ptau = "", lines = ""] = process.argv.slice(2);
    await goOn(folder, r1cs, ptau, Number(lines)).finally(stopSnarkjs);
  });
