// Single steps of phase 2, run by snarkjs. An error that it throws or prints becomes one CommandError that names the file.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { isBytes } from "@sotto/protocol";
import { zKey } from "snarkjs";
import { writeAtomically } from "../circuits/files.ts";
import { type Progress, SnarkjsLogger } from "./snarkjs-logger.ts";

/** Reads a whole file into memory, because snarkjs does not close files. A ptau of 2^16 powers has 75 MB. */
const contents = (file: string): Uint8Array => readFileSync(file);

async function attempt<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError("ZKEY_DAMAGED", `snarkjs cannot read ${file}: ${why}`, { cause });
  }
}

/** snarkjs writes into memory; we then write the file atomically, so that a full disk is reported as an error. */
interface Memory {
  readonly type: "mem";
  readonly data?: Uint8Array;
}

/** Makes a circuit's zkey without contributions: the same bytes on every machine. @throws CommandError PTAU_TOO_SMALL */
export async function makeKeys(r1cs: string, ptau: string, progress: Progress): Promise<Uint8Array> {
  const made: Memory = { type: "mem" };
  const logger = new SnarkjsLogger(progress);
  const hash = await attempt(r1cs, () => zKey.newZKey(contents(r1cs), contents(ptau), made, logger));
  // On an error, snarkjs writes to the logger and returns -1.
  if (!isBytes(hash) || made.data === undefined)
    throw new CommandError("PTAU_TOO_SMALL", `${ptau} cannot be used for ${r1cs}: ${logger.reason}`);
  return made.data;
}

/** Adds a contribution from the system's entropy, which snarkjs mixes with its own. */
export async function contribute(from: string, to: string, contributor: string): Promise<void> {
  const entropy = randomBytes(64).toString("hex");
  const made: Memory = { type: "mem" };
  await attempt(from, () => zKey.contribute(contents(from), made, contributor, entropy));
  writeAtomically(to, made.data!);
}

/**
 * Adds the beacon as the last contribution.
 * @param beacon 1 to 255 bytes, hex
 * @param iterations the beacon is hashed 2^iterations times, 10 to 63
 * @throws CommandError BEACON_INVALID
 */
export async function applyBeacon(
  from: string,
  to: string,
  contributor: string,
  beacon: string,
  iterations: number,
): Promise<void> {
  const made: Memory = { type: "mem" };
  await attempt(from, () => zKey.beacon(contents(from), made, contributor, beacon, iterations));
  if (made.data === undefined)
    throw new CommandError("BEACON_INVALID", "the beacon must be 1 to 255 bytes in hex, with 10 to 63 iterations");
  writeAtomically(to, made.data);
}

/**
 * Checks that a key results from the initial key and its listed contributions: their proofs are valid, delta is the product
 * of all, and everything else is unchanged.
 * @param first content of the initial zkey
 * @throws CommandError ZKEY_DAMAGED, CONTRIBUTION_INVALID
 */
export async function assertFollows(first: Uint8Array, ptau: string, zkey: string): Promise<void> {
  const logger = new SnarkjsLogger();
  const check = () => zKey.verifyFromInit(first, contents(ptau), contents(zkey), logger);
  if (await attempt(zkey, () => logger.captureConsole(check))) return;
  throw new CommandError("CONTRIBUTION_INVALID", `${zkey} does not result from the initial keys: ${logger.reason}`);
}

/** The verification key as snarkjs exports it, as JSON text. */
export async function exportVerificationKey(zkey: string): Promise<string> {
  const key: unknown = await attempt(zkey, () => zKey.exportVerificationKey(contents(zkey)));
  const text = JSON.stringify(key, (_, value) => (typeof value === "bigint" ? String(value) : value), 2);
  return `${text}\n`;
}
