import { existsSync, mkdirSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "@sotto/command/command";
import { KeyMaker } from "../setup/development-keys.ts";
import { makePtau } from "../setup/keys/ptau.ts";
import { phase1Secrets } from "../setup/keys/secrets.ts";

/** Its secrets are public: anyone can forge proofs under any key made from it. */
const PRACTICE_SEED = "practice: these powers of tau are worth nothing";

/**
 * Writes a prepared phase 1 file for rehearsals on machines that cannot download the public one.
 * @param power log2 of the largest circuit's domain, 2 to 17
 * @throws CommandError PTAU_POWER_UNKNOWN, FILE_EXISTS
 */
export async function makePracticePtau(power: number, to: string): Promise<void> {
  if (!Number.isInteger(power) || power < 2 || power > 17)
    throw new CommandError("PTAU_POWER_UNKNOWN", `--power is ${power}; a practice file has 2^2 to 2^17 powers`);
  if (existsSync(to)) throw new CommandError("FILE_EXISTS", `${to} already exists; choose another file`);
  mkdirSync(dirname(to), { recursive: true });
  const maker = await KeyMaker.start();
  const part = `${to}.part`;
  try {
    const parts = await makePtau(phase1Secrets(PRACTICE_SEED), power, maker.pool);
    rmSync(part, { force: true });
    const file = await open(part, "wx");
    try {
      await file.writev(parts);
    } finally {
      await file.close();
    }
    await rename(part, to);
  } finally {
    await maker.stop();
  }
}
