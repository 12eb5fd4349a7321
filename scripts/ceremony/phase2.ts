// One step of phase 2 for one circuit, by snarkjs. What it throws or prints becomes one error that names the file.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { zKey } from "snarkjs";
import { CommandError } from "../lib/command.ts";

/** A file's contents: snarkjs leaves the files open that it reads itself. A ptau of 2^16 powers has 72 MB. */
const contents = (file: string): Uint8Array => readFileSync(file);

async function attempt<T>(file: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError("ZKEY_DAMAGED", `${file} cannot be worked with: ${why}`, { cause });
  }
}

/** The keys of a circuit before any contribution. */
export async function begin(r1cs: string, ptau: string, zkey: string): Promise<void> {
  const circuitHash = await attempt(r1cs, () => zKey.newZKey(contents(r1cs), contents(ptau), zkey));
  // snarkjs says what it dislikes to a logger, and returns -1 or false.
  if (!(circuitHash instanceof Uint8Array))
    throw new CommandError("PTAU_TOO_SMALL", `${ptau} has not enough powers for ${r1cs}, or is not prepared`);
}

/** A contribution with entropy of the system, which snarkjs mixes with its own. */
export async function contribute(from: string, to: string, contributor: string): Promise<void> {
  const entropy = randomBytes(64).toString("hex");
  await attempt(from, () => zKey.contribute(contents(from), to, contributor, entropy));
}

/** @param iterations the beacon is hashed 2^iterations times, 10 to 63 */
export async function applyBeacon(
  from: string,
  to: string,
  contributor: string,
  beacon: string,
  iterations: number,
): Promise<void> {
  const applied = await attempt(from, () => zKey.beacon(contents(from), to, contributor, beacon, iterations));
  if (applied === false)
    throw new CommandError("BEACON_INVALID", "a beacon is 1 to 255 bytes in hex, hashed 2^10 to 2^63 times");
}

/**
 * Whether `zkey` follows from `first` by the contributions it names: their proofs, the delta they make, and everything
 * else as it was.
 * @throws CommandError ZKEY_DAMAGED, CONTRIBUTION_INVALID
 */
export async function expectFollows(first: string, ptau: string, zkey: string): Promise<void> {
  const follows = await attempt(zkey, () =>
    quietly(() => zKey.verifyFromInit(contents(first), contents(ptau), contents(zkey))),
  );
  if (!follows) throw new CommandError("CONTRIBUTION_INVALID", `${zkey} does not follow from the keys it began with`);
}

/**
 * The same from the circuit itself: nobody's word is taken for the keys it began with.
 * @throws CommandError ZKEY_DAMAGED, CONTRIBUTION_INVALID
 */
export async function expectMadeFrom(r1cs: string, ptau: string, zkey: string): Promise<void> {
  const follows = await attempt(zkey, () =>
    quietly(() => zKey.verifyFromR1cs(contents(r1cs), contents(ptau), contents(zkey))),
  );
  if (!follows) throw new CommandError("CONTRIBUTION_INVALID", `${zkey} is not made from ${r1cs} and ${ptau}`);
}

/** snarkjs prints why it refuses a key; the error says it. */
async function quietly<T>(action: () => Promise<T>): Promise<T> {
  const { log } = console;
  console.log = () => {};
  try {
    return await action();
  } finally {
    console.log = log;
  }
}

/** The verification key as snarkjs exports it, as text. */
export async function exportVerificationKey(zkey: string): Promise<string> {
  const key: unknown = await attempt(zkey, () => zKey.exportVerificationKey(contents(zkey)));
  const text = JSON.stringify(key, (_, value) => (typeof value === "bigint" ? String(value) : value), 2);
  return `${text}\n`;
}
