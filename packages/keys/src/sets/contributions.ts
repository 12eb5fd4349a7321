// Reads section 10 of a zkey, the contributions to its delta. It does not use snarkjs, so that the transcript records
// the file's content and not the output of a tool.
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { CommandError } from "@sotto/command/command";
import type { Curve } from "ffjavascript";

/** One contribution, or the beacon at the end. */
export interface Contribution {
  readonly name: string;
  /** BLAKE2b-512 of its public key and transcript, hex: snarkjs prints it as the contribution hash. */
  readonly hash: string;
  /** Only for the beacon: its public bytes (hex), and the exponent: the bytes are hashed 2^iterations times. */
  readonly beacon?: { readonly hash: string; readonly iterations: number };
}

export interface Contributions {
  /** BLAKE2b-512 of the circuit's keys before any contribution. */
  readonly circuitHash: string;
  readonly list: readonly Contribution[];
}

const SECTION = 10;
const HASH = 64;
const [G1, G2] = [64, 128];
/** snarkjs's numbers for kinds and parameters of a contribution. */
const KIND = { contribution: 0, beacon: 1 } as const;
const PARAMETER = { name: 1, iterations: 2, beacon: 3 } as const;
/** Limits the memory that a damaged length can allocate; no real ceremony comes near it. */
const MAX_INPUT_BYTES = 16 << 20;

async function readSection(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read = async (position: number, length: number): Promise<Buffer> => {
      if (position + length > size) throw new Error("truncated");
      return (await file.read(Buffer.alloc(length), 0, length, position)).buffer;
    };
    const head = await read(0, 12);
    if (head.toString("latin1", 0, 4) !== "zkey") throw new Error("the file does not begin with zkey");
    let found: Buffer | undefined;
    let position = 12;
    for (let section = head.readUInt32LE(8); section > 0; section -= 1) {
      const entry = await read(position, 12);
      const length = Number(entry.readBigUInt64LE(4));
      if (position + 12 + length > size) throw new Error("truncated");
      if (entry.readUInt32LE(0) === SECTION) {
        if (found !== undefined || length > MAX_INPUT_BYTES)
          throw new Error("it has two contribution sections, or one that is too large");
        found = await read(position + 12, length);
      }
      position += 12 + length;
    }
    if (found === undefined || position !== size) throw new Error("it is truncated, or has no contributions section");
    return found;
  } finally {
    await file.close();
  }
}

/** Reads a buffer from start to end; throws on a read beyond the end. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error("truncated");
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
  byte = (): number => this.take(1).readUInt8();
  word = (): number => this.take(4).readUInt32LE();
  get ended(): boolean {
    return this.#at === this.#bytes.length;
  }
}

function parseParameters(bytes: Buffer): { name: string; iterations?: number; beacon?: string } {
  const reader = new Reader(bytes);
  const found: { name: string; iterations?: number; beacon?: string } = { name: "" };
  while (!reader.ended) {
    const type = reader.byte();
    if (type === PARAMETER.name) found.name = reader.take(reader.byte()).toString("utf8");
    else if (type === PARAMETER.iterations) found.iterations = reader.byte();
    else if (type === PARAMETER.beacon) found.beacon = reader.take(reader.byte()).toString("hex");
    else throw new Error(`unknown parameter type ${type}`);
  }
  // The name is printed, and a terminal would execute its control characters.
  if (/\p{C}/u.test(found.name)) throw new Error("the contributor's name has control characters");
  return found;
}

function parseContribution(reader: Reader, curve: Curve): Contribution {
  const hash = createHash("blake2b512");
  const point = (group: "G1" | "G2", size: number) => {
    const bytes = new Uint8Array(size);
    curve[group].toRprUncompressed(bytes, 0, Uint8Array.from(reader.take(size)));
    hash.update(bytes);
  };
  for (let i = 0; i < 3; i += 1) point("G1", G1);
  point("G2", G2);
  hash.update(reader.take(HASH));
  const kind = reader.word();
  const { name, iterations, beacon } = parseParameters(reader.take(reader.word()));
  const common = { name, hash: hash.digest("hex") };
  if (kind === KIND.contribution) return common;
  if (kind !== KIND.beacon) throw new Error("a contribution has an unknown kind");
  if (iterations === undefined || beacon === undefined) throw new Error("the beacon has no source");
  return { ...common, beacon: { hash: beacon, iterations } };
}

/** @throws CommandError ZKEY_DAMAGED */
export async function readContributions(path: string, curve: Curve): Promise<Contributions> {
  try {
    const reader = new Reader(await readSection(path));
    const circuitHash = reader.take(HASH).toString("hex");
    const count = reader.word();
    const list: Contribution[] = [];
    for (let i = 0; i < count; i += 1) list.push(parseContribution(reader, curve));
    if (!reader.ended) throw new Error("there are bytes after the last contribution");
    return { circuitHash, list };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError("ZKEY_DAMAGED", `${path} is not a complete zkey: ${why}`, { cause });
  }
}
