// A transcript may come from anybody. Its names become paths, and parts of Solidity and TypeScript sources: nothing of it
// is used before all of it has its shape.
import { type Static, type TSchema, Type } from "typebox";
import { Errors } from "typebox/schema";
import { CommandError } from "../lib/command.ts";

/** Of these fields and no others. */
const strict = { additionalProperties: false };
/** By circuit, one at least. */
const byCircuit = <Entry extends TSchema>(entry: Entry) =>
  Type.Record(Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$" }), entry, { minProperties: 1, ...strict });

const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const blake2b = Type.String({ pattern: "^[0-9a-f]{128}$" });

/** A powers of tau file of 2^power powers: the largest domain of a circuit it serves. */
const phase1 = Type.Object(
  {
    power: Type.Integer({ minimum: 1, maximum: 28 }),
    file: Type.String({ pattern: "^[^\\p{C}`/\\\\]{1,255}$" }),
    blake2b,
  },
  strict,
);

/** Bytes nobody could know while contributions were made, hashed 2^iterations times, and where they can be looked up. */
const beacon = Type.Object(
  {
    hash: Type.String({ pattern: "^([0-9a-f]{2}){16,255}$" }),
    iterations: Type.Integer({ minimum: 10, maximum: 63 }),
    source: Type.String({ pattern: "^[\\p{L}\\p{N} .,:/#()@-]{1,200}$" }),
  },
  strict,
);

/** A beacon is nobody, and nobody may pass for one. */
const NAME = "(?!beacon)[\\p{L}\\p{N}][\\p{L}\\p{N} .,'()@-]{0,63}";

/** What one contributor did to every circuit; the last one is the beacon. */
const round = Type.Object(
  {
    contributor: Type.String({ pattern: `^(${NAME}|beacon)$` }),
    beacon: Type.Optional(beacon),
    hashes: byCircuit(Type.Object({ contribution: blake2b, zkey: sha256 }, strict)),
  },
  strict,
);

/** SHA-256 of a circuit's files. Only one whose proofs the chain checks has a verifier. */
const finalFiles = Type.Object(
  { r1cs: sha256, wasm: sha256, zkey: sha256, vkey: sha256, verifier: Type.Optional(sha256) },
  strict,
);

const transcript = Type.Object(
  {
    version: Type.Literal(1),
    /** A rehearsal is worth nothing. */
    set: Type.String({ pattern: "^(ceremony|rehearsal)/[a-z][a-z0-9-]{0,39}$" }),
    phase1,
    /** Of its keys before any contribution: their SHA-256, and the BLAKE2b that every later key carries. */
    circuits: byCircuit(Type.Object({ r1cs: sha256, zkey: sha256, circuitHash: blake2b }, strict)),
    rounds: Type.Array(round),
    /** Set once the ceremony is finished. */
    final: Type.Optional(byCircuit(finalFiles)),
  },
  strict,
);

export type Phase1 = Static<typeof phase1>;
export type Beacon = Static<typeof beacon>;
export type Round = Static<typeof round>;
export type FinalFiles = Static<typeof finalFiles>;
export type Transcript = Static<typeof transcript>;

/** @throws Error with the path of the first field that is wrong */
function assertShape(schema: TSchema, value: unknown): void {
  const [, [error]] = Errors(schema, value);
  if (error === undefined) return;
  // Of a field that nobody knows: the library's words are of its schema.
  const message = error.keyword === "boolean" ? "must not be there" : error.message;
  throw new Error(`${error.instancePath || "it"} ${message}`);
}

/** @throws Error saying which field is wrong */
export function assertTranscript(value: unknown): Transcript {
  assertShape(transcript, value);
  const found = value as Transcript;
  for (const [index, round] of found.rounds.entries()) {
    const drawn = round.beacon !== undefined;
    if (drawn !== (round.contributor === "beacon") || (drawn && index !== found.rounds.length - 1))
      throw new Error(`/rounds/${index} must be a contribution, or the beacon at the end`);
  }
  return found;
}

/** @throws CommandError NAME_INVALID */
export function parseContributor(name: string): string {
  if (new RegExp(`^${NAME}$`, "u").test(name)) return name;
  const letters = "letters, digits and .,'()@-, at most 64";
  throw new CommandError("NAME_INVALID", `${JSON.stringify(name)} is not a contributor's name: ${letters}`);
}

/** @throws CommandError BEACON_INVALID */
export function assertBeacon(value: Beacon): void {
  try {
    assertShape(beacon, value);
  } catch (cause) {
    throw new CommandError("BEACON_INVALID", `the beacon's ${(cause as Error).message}`, { cause });
  }
}
