// The schema of a transcript. A transcript is untrusted input, and its names become paths and parts of Solidity and
// TypeScript sources. Nothing in it is used before the whole transcript has been validated.

import { CommandError } from "@sotto/command/command";
import { type Static, type TSchema, Type } from "typebox";
import { Errors } from "typebox/schema";

/** No fields besides the listed ones. */
const strict = { additionalProperties: false };
/** An entry for each circuit, at least one. */
const byCircuit = <Entry extends TSchema>(entry: Entry) =>
  Type.Record(Type.String({ pattern: "^[a-z][a-z0-9_]{0,63}$" }), entry, { minProperties: 1, ...strict });

const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const blake2b = Type.String({ pattern: "^[0-9a-f]{128}$" });

/** A powers of tau file: it supports circuits with domains of up to 2^power. */
const phase1 = Type.Object(
  {
    power: Type.Integer({ minimum: 1, maximum: 28 }),
    file: Type.String({ pattern: "^[^\\p{C}`/\\\\]{1,255}$" }),
    blake2b,
  },
  strict,
);

/**
 * Public random bytes that nobody knew while contributions were made, their source, and how often they are hashed
 * (2^iterations).
 */
const beacon = Type.Object(
  {
    hash: Type.String({ pattern: "^([0-9a-f]{2}){16,255}$" }),
    iterations: Type.Integer({ minimum: 10, maximum: 63 }),
    source: Type.String({ pattern: "^[\\p{L}\\p{N} .,:/#()@-]{1,200}$" }),
  },
  strict,
);

/** A contributor's name. It must not begin with "beacon", so that no contributor can pass as the beacon. */
const NAME = "(?!beacon)[\\p{L}\\p{N}][\\p{L}\\p{N} .,'()@-]{0,63}";

/** One contribution to every circuit. The last round is the beacon. */
const round = Type.Object(
  {
    contributor: Type.String({ pattern: `^(${NAME}|beacon)$` }),
    beacon: Type.Optional(beacon),
    hashes: byCircuit(Type.Object({ contribution: blake2b, zkey: sha256 }, strict)),
  },
  strict,
);

/** SHA-256 of a circuit's files; `verifier` only if a contract checks its proofs. */
const finalFiles = Type.Object(
  { r1cs: sha256, wasm: sha256, zkey: sha256, vkey: sha256, verifier: Type.Optional(sha256) },
  strict,
);

const transcript = Type.Object(
  {
    version: Type.Literal(1),
    /** The keys of a set named `rehearsal/NAME` are insecure. */
    set: Type.String({ pattern: "^(ceremony|rehearsal)/[a-z][a-z0-9-]{0,39}$" }),
    phase1,
    /** By circuit: SHA-256 of the r1cs and of the zkey without contributions, and the BLAKE2b in every later zkey. */
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

/** @throws Error with the path of the first invalid field */
function assertShape(schema: TSchema, value: unknown): void {
  const [, [error]] = Errors(schema, value);
  if (error === undefined) return;
  // An unknown field. The library's message describes its schema (`false`), not the field.
  const message = error.keyword === "boolean" ? "is not a field of a transcript" : error.message;
  throw new Error(`${error.instancePath || "it"} ${message}`);
}

/** @throws Error that names the first invalid field */
export function assertTranscript(value: unknown): Transcript {
  assertShape(transcript, value);
  const found = value as Transcript;
  for (const [index, round] of found.rounds.entries()) {
    const drawn = round.beacon !== undefined;
    if (drawn !== (round.contributor === "beacon") || (drawn && index !== found.rounds.length - 1))
      throw new Error(`/rounds/${index} must be a contribution, or the beacon as the last round`);
  }
  return found;
}

/** @returns the name, 1 to 64 characters @throws CommandError NAME_INVALID */
export function parseContributor(name: string): string {
  if (new RegExp(`^${NAME}$`, "u").test(name)) return name;
  const letters = "letters, digits and .,'()@-, at most 64";
  throw new CommandError(
    "NAME_INVALID",
    `${JSON.stringify(name)} is not a valid contributor's name; expected ${letters} characters`,
  );
}

/** @throws CommandError BEACON_INVALID */
export function assertBeacon(value: Beacon): void {
  try {
    assertShape(beacon, value);
  } catch (cause) {
    throw new CommandError("BEACON_INVALID", `the beacon's ${(cause as Error).message}`, { cause });
  }
}
