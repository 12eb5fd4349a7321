import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { bn254 } from "@noble/curves/bn254.js";
import { CommandError } from "@sotto/command/command";
import { artifactPaths } from "../circuits/paths.ts";
import { invert, mod, SCALAR_MODULUS } from "./keys/field.ts";

/** The secrets of one circuit's development key. */
export interface Trapdoor {
  alpha: bigint;
  beta: bigint;
  delta: bigint;
  /** Discrete logarithms of IC: the constant's, then one for each public signal. */
  ic: bigint[];
}

export interface ForgedProof {
  /** a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y in decimal, in the order of snarkjs and of the wire format. */
  proof: string[];
  publicSignals: string[];
}

/** Reads circuits/build/NAME/NAME.trapdoor.json. @throws CommandError TRAPDOOR_MISSING before set-up, TRAPDOOR_DAMAGED */
export function loadTrapdoor(name: string, path = artifactPaths(name).trapdoor): Trapdoor {
  if (!existsSync(path))
    throw new CommandError("TRAPDOOR_MISSING", `${path} is missing: run npm run setup:dev -- ${name}`);
  try {
    const { alpha, beta, delta, ic } = JSON.parse(readFileSync(path, "utf8"));
    return { alpha: BigInt(alpha), beta: BigInt(beta), delta: BigInt(delta), ic: ic.map(BigInt) };
  } catch (cause) {
    throw new CommandError(
      "TRAPDOOR_DAMAGED",
      `${path} is not a trapdoor: delete it and run npm run setup:dev -- ${name}`,
      { cause },
    );
  }
}

const loaded = new Map<string, Trapdoor>();

/**
 * Forges a proof of any statement, true or false, that is valid under the development key, with Groth16's simulator.
 * This takes milliseconds and needs no witness, so long contract tests can use the real verifiers. It is also the
 * reason why development keys are rejected on public chains.
 * @param publicSignals in wire order, each from 0 to r - 1
 */
export function proveWithTrapdoor(name: string, publicSignals: readonly bigint[]): ForgedProof {
  const trapdoor = loaded.get(name) ?? loadTrapdoor(name);
  loaded.set(name, trapdoor);
  return forge(trapdoor, publicSignals);
}

export function forge({ alpha, beta, delta, ic }: Trapdoor, publicSignals: readonly bigint[]): ForgedProof {
  if (publicSignals.length !== ic.length - 1)
    throw new CommandError("SIGNALS_INVALID", `${publicSignals.length} public signals, expected ${ic.length - 1}`);
  const wrong = publicSignals.findIndex((signal) => signal < 0n || signal >= SCALAR_MODULUS);
  if (wrong >= 0) throw new CommandError("SIGNALS_INVALID", `public signal ${wrong} is not a field element below r`);
  // e(A, B) = e(alpha, beta) * e(IC(x), gamma) * e(C, delta) with gamma = 1, solved for C in the exponent.
  const statement = publicSignals.reduce((sum, signal, index) => mod(sum + signal * ic[index + 1]!), ic[0]!);
  const { a, b, pointA, pointB } = nextPoints();
  const c = mod((a * b - alpha * beta - statement) * invert(delta));
  if (c === 0n) return forge({ alpha, beta, delta, ic }, publicSignals);
  const [A, B, C] = [pointA.toAffine(), pointB.toAffine(), G1.BASE.multiplyUnsafe(c).toAffine()];
  const words = [A.x, A.y, B.x.c0, B.x.c1, B.y.c0, B.y.c1, C.x, C.y];
  return { proof: words.map(String), publicSignals: publicSignals.map(String) };
}

const { G1, G2 } = { G1: bn254.G1.Point, G2: bn254.G2.Point };

interface Points {
  readonly a: bigint;
  readonly pointA: typeof G1.BASE;
  readonly b: bigint;
  readonly pointB: typeof G2.BASE;
}

let last: Points | undefined;

/**
 * A and B of the next proof, with their discrete logarithms: random for the first proof of a process, incremented by
 * one for each further proof. A multiplication for each proof would take most of the time.
 */
function nextPoints(): Points {
  if (last === undefined) {
    const [a, b] = [randomScalar(), randomScalar()];
    // The library makes a table of multiples for BASE itself, which takes longer than one multiplication of a copy.
    const copy = { g1: G1.fromAffine(G1.BASE.toAffine()), g2: G2.fromAffine(G2.BASE.toAffine()) };
    last = { a, pointA: copy.g1.multiplyUnsafe(a), b, pointB: copy.g2.multiplyUnsafe(b) };
  } else {
    const { a, pointA, b, pointB } = last;
    last = { a: a + 1n, pointA: pointA.add(G1.BASE), b: b + 1n, pointB: pointB.add(G2.BASE) };
  }
  return last;
}

/** A random scalar in [1, r - 1], reduced from 384 bits, so that its bias is negligible. */
const randomScalar = (): bigint => (BigInt(`0x${randomBytes(48).toString("hex")}`) % (SCALAR_MODULUS - 1n)) + 1n;
