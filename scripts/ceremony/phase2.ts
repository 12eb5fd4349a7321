// Runs single steps of phase 2 with snarkjs. Errors that it throws or prints become one error that names the file.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { zKey } from "snarkjs";
import { writeAtomically } from "../circuits/files.ts";
import { CommandError } from "../lib/command.ts";
import { Listener, type Progress } from "./listener.ts";

/** Reads a file as a whole, because snarkjs does not close files. A ptau of 2^16 powers has 75 MB. */
const contents = (file: string): Uint8Array => readFileSync(file);

async function attempt<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError("ZKEY_DAMAGED", `${file} cannot be worked with: ${why}`, { cause });
  }
}

/** Lets snarkjs write into memory and writes the file atomically, so that a full disk is reported as an error. */
interface Memory {
  readonly type: "mem";
  readonly data?: Uint8Array;
}

/** The keys of a circuit before any contribution: the same bytes on every machine. */
export async function makeKeys(r1cs: string, ptau: string, progress: Progress): Promise<Uint8Array> {
  const made: Memory = { type: "mem" };
  const listener = new Listener(progress);
  const hash = await attempt(r1cs, () => zKey.newZKey(contents(r1cs), contents(ptau), made, listener));
  // On an error, snarkjs tells the listener and returns -1.
  if (!(hash instanceof Uint8Array) || made.data === undefined)
    throw new CommandError("PTAU_TOO_SMALL", `${ptau} does not serve for ${r1cs}: ${listener.reason}`);
  return made.data;
}

/** Contributes with the system's entropy, which snarkjs mixes with its own. */
export async function contribute(from: string, to: string, contributor: string): Promise<void> {
  const entropy = randomBytes(64).toString("hex");
  const made: Memory = { type: "mem" };
  await attempt(from, () => zKey.contribute(contents(from), made, contributor, entropy));
  writeAtomically(to, made.data!);
}

/** @param iterations the beacon is hashed 2^iterations times, 10 to 63 */
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
    throw new CommandError("BEACON_INVALID", "a beacon is 1 to 255 bytes in hex, hashed 2^10 to 2^63 times");
  writeAtomically(to, made.data);
}

/**
 * Checks that a key follows from the first one by the contributions it names: their proofs and the resulting delta, with
 * everything else unchanged.
 * @throws CommandError ZKEY_DAMAGED, CONTRIBUTION_INVALID
 */
export async function assertFollows(first: Uint8Array, ptau: string, zkey: string): Promise<void> {
  const listener = new Listener();
  const check = () => zKey.verifyFromInit(first, contents(ptau), contents(zkey), listener);
  if (await attempt(zkey, () => listener.hear(check))) return;
  throw new CommandError("CONTRIBUTION_INVALID", `${zkey} does not follow from the first keys: ${listener.reason}`);
}

/** The verification key as snarkjs exports it, as text. */
export async function exportVerificationKey(zkey: string): Promise<string> {
  const key: unknown = await attempt(zkey, () => zKey.exportVerificationKey(contents(zkey)));
  const text = JSON.stringify(key, (_, value) => (typeof value === "bigint" ? String(value) : value), 2);
  return `${text}\n`;
}
