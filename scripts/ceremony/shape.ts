// A transcript may come from anybody. Its names become paths, and parts of Solidity and TypeScript sources: nothing of it
// is used before all of it has its shape.
import { CommandError } from "../lib/command.ts";

type Check = (value: unknown, where: string) => void;

const refuse = (where: string, expected: string): never => {
  throw new Error(`${where} is not ${expected}`);
};

const text =
  (pattern: RegExp, expected: string): Check =>
  (value, where) => {
    if (typeof value !== "string" || !pattern.test(value)) refuse(where, expected);
  };

const integer =
  (least: number, most: number): Check =>
  (value, where) => {
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) refuse(where, `${least} to ${most}`);
  };

function entriesOf(value: unknown, where: string): [name: string, entry: unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(where, "an object");
  return Object.entries(value as object);
}

/** An object of these fields and no others; of those in `optional` there may be none. */
const object =
  (fields: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  (value, where) => {
    const found = new Map(entriesOf(value, where));
    for (const name of found.keys())
      if (!Object.hasOwn(fields, name) && !Object.hasOwn(optional, name)) refuse(where, "free of unknown fields");
    for (const [name, check] of Object.entries(fields)) check(found.get(name), `${where}.${name}`);
    for (const [name, check] of Object.entries(optional))
      if (found.has(name)) check(found.get(name), `${where}.${name}`);
  };

/** By circuit, one at least. */
const byCircuit =
  (check: Check): Check =>
  (value, where) => {
    const entries = entriesOf(value, where);
    if (entries.length === 0) refuse(where, "of a circuit");
    for (const [name, entry] of entries) {
      text(/^[a-z][a-z0-9_]{0,63}$/, "by circuit")(name, where);
      check(entry, `${where}.${name}`);
    }
  };

const sha256 = text(/^[0-9a-f]{64}$/, "a SHA-256 in hex");
const blake2b = text(/^[0-9a-f]{128}$/, "a BLAKE2b-512 in hex");
const hashes = byCircuit(object({ contribution: blake2b, zkey: sha256 }));

/** Who contributed: a beacon is nobody, and nobody may pass for one. */
const contributor = text(
  /^(?!beacon)[\p{L}\p{N}][\p{L}\p{N} .,'()@-]{0,63}$/u,
  "a contributor's name: letters, digits and .,'()@-, at most 64",
);

/** Bytes, as often as 2^iterations hashed, and where they are from. */
const beacon = object({
  hash: text(/^([0-9a-f]{2}){16,255}$/, "16 to 255 bytes in lower-case hex"),
  iterations: integer(10, 63),
  source: text(/^[\p{L}\p{N} .,:/#()@-]{1,200}$/u, "words that say where it is from"),
});

const rounds: Check = (value, where) => {
  if (!Array.isArray(value)) refuse(where, "a list");
  for (const [index, round] of (value as { kind?: unknown }[]).entries()) {
    const drawn = Object(round).kind === "beacon";
    const fields: Record<string, Check> = drawn
      ? { contributor: text(/^beacon$/, "the beacon"), beacon }
      : { contributor };
    const kind = text(/^(contribution|beacon)$/, "a contribution or a beacon");
    object({ kind, ...fields, hashes })(round, `${where}.${index}`);
    if (drawn && index !== (value as unknown[]).length - 1) refuse(`${where}.${index}`, "the last, as a beacon is");
  }
};

const transcript = object(
  {
    version: integer(1, 1),
    set: text(/^(ceremony|rehearsal)\/[a-z][a-z0-9-]{0,39}$/, "ceremony/NAME or rehearsal/NAME"),
    phase1: object({
      power: integer(1, 28),
      file: text(/^[^\p{C}`/\\]{1,255}$/u, "the name of a file"),
      blake2b,
    }),
    circuits: byCircuit(object({ r1cs: sha256, circuitHash: blake2b })),
    rounds,
  },
  { final: byCircuit(object({ r1cs: sha256, wasm: sha256, zkey: sha256, vkey: sha256 }, { verifier: sha256 })) },
);

/** @throws Error saying which field is wrong */
export const expectTranscript = (value: unknown): void => transcript(value, "transcript");

/** @throws CommandError NAME_INVALID */
export function expectContributor(name: string): string {
  return coded("NAME_INVALID", name, () => contributor(name, JSON.stringify(name)));
}

/** @throws CommandError BEACON_INVALID */
export function expectBeacon<T>(value: T): T {
  return coded("BEACON_INVALID", value, () => beacon(value, "the beacon"));
}

function coded<T>(code: string, value: T, check: () => void): T {
  try {
    check();
    return value;
  } catch (cause) {
    throw new CommandError(code, (cause as Error).message, { cause });
  }
}
