import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { CommandError } from "@sotto/command/command";
import type { Phase1 } from "../sets/transcript-schema.ts";
import { PTAU_HASHES } from "./ptau-list.ts";

/** BLAKE2b-512 of a file, hex. */
export async function blake2bFile(path: string): Promise<string> {
  const hash = createHash("blake2b512");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Reads the power from the header: magic, version, section count; then section 1: field size, modulus, power. */
async function readPower(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    const modulus = bytesRead === 64 && buffer.toString("latin1", 0, 4) === "ptau" ? buffer.readUInt32LE(24) : 0;
    if (buffer.readUInt32LE(12) !== 1 || modulus !== 32)
      throw new CommandError("PTAU_DAMAGED", `${path} is not a powers of tau file of BN254 written by snarkjs`);
    const power = await file.read(Buffer.alloc(4), 0, 4, 28 + modulus);
    return power.bytesRead === 4 ? power.buffer.readUInt32LE(0) : 0;
  } finally {
    await file.close();
  }
}

/**
 * Reads a powers of tau file and compares its hash with the public ceremony's list.
 * @param rehearsal accepts any file: a rehearsal's keys are marked as insecure
 * @throws CommandError PTAU_MISSING, PTAU_DAMAGED; PTAU_UNKNOWN if it is not on the list
 */
export async function readPtau(path: string, rehearsal: boolean): Promise<Phase1> {
  let power: number;
  try {
    power = await readPower(path);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError("PTAU_MISSING", `${path} cannot be read; pnpm ceremony ptau downloads it`, { cause });
  }
  const phase1 = { power, file: basename(path), blake2b: await blake2bFile(path) };
  const expected = PTAU_HASHES[power];
  if (rehearsal || phase1.blake2b === expected) return phase1;
  throw new CommandError(
    "PTAU_UNKNOWN",
    `${path} (2^${power}) is not the file of the public ceremony: BLAKE2b ${phase1.blake2b}, ` +
      `expected ${expected ?? "one of 2^8 to 2^28"}. Only a rehearsal accepts another file`,
  );
}
