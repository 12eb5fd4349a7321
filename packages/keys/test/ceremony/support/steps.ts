// node steps.ts FOLDER TOYS PTAU LINES: runs a ceremony of toy circuits from its current state to the end, deciding
// each step only from which folders exist. It prints every step, and is killed after LINES lines.
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { runCommand } from "@sotto/command/command";
import { buildBn128 } from "ffjavascript";
import { acceptRound, beginCeremony, contributeTo, endWithBeacon } from "../../../src/ceremony/ceremony.ts";
import { hasBegun, openCeremony, roundFolder } from "../../../src/ceremony/context.ts";
import { type FinalContext, finalize } from "../../../src/ceremony/finalize.ts";
import { readTranscript, writeTranscript } from "../../../src/sets/transcript.ts";
import { stopSnarkjs } from "../../../src/verifiers/stop-snarkjs.ts";

export const toyContext = async (
  folder: string,
  toys: string,
  report: (line: string) => void,
): Promise<FinalContext> => ({
  folder: join(folder, "toy"),
  circuits: readdirSync(toys)
    .filter((file) => file.endsWith(".r1cs"))
    .map((file) => ({ name: basename(file, ".r1cs"), r1cs: join(toys, file) })),
  curve: await buildBn128(true),
  report,
  verifier: async () => undefined,
});

const BEACON = { hash: "ab".repeat(32), iterations: 10, source: "drand, round 4711" };

async function goOn(folder: string, toys: string, ptau: string, lines: number): Promise<void> {
  let told = 0;
  const context = await toyContext(folder, toys, (line) => {
    process.stdout.write(`${line}\n`);
    told += 1;
    if (told === lines) process.kill(process.pid, "SIGKILL");
  });
  const rounds = () => openCeremony(context).rounds;
  const transcript = join(context.folder, "transcript.json");
  if (!existsSync(transcript) || !hasBegun(context, readTranscript(transcript)))
    await beginCeremony(context, "rehearsal/toy", ptau);
  for (const [index, who] of ["ada", "grace"].entries()) {
    const sent = join(folder, who);
    if (!existsSync(sent)) await contributeTo(roundFolder(context, index), sent, who, context);
    if (rounds().length <= index + 1) await acceptRound(context, ptau, sent);
  }
  if (rounds().length === 2) await endWithBeacon(context, BEACON);
  writeTranscript(join(folder, "published.json"), (await finalize(context, ptau, join(folder, "final"))).transcript);
}

if (import.meta.main)
  await runCommand(async () => {
    const [folder = "", toys = "", ptau = "", lines = ""] = process.argv.slice(2);
    await goOn(folder, toys, ptau, Number(lines)).finally(stopSnarkjs);
  });
