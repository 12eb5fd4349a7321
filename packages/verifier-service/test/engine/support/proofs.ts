// Valid proofs, invalid proofs, and an independent verifier.
import { readFileSync } from "node:fs";
import { bn254 } from "@noble/curves/bn254.js";
import { decodeProof, encodeProof, type ProofPoints, parseVerificationKey, type VerificationKey } from "@sotto/groth16";
import type { Statement } from "../../../src/engine/proof-statement.ts";

export interface Claim {
  readonly circuit: string;
  readonly proof: string[];
  readonly signals: string[];
}

type Fixtures = Record<string, { key: unknown; proofs: { proof: string[]; signals: string[] }[] }>;

/** Made with the trapdoor of the development keys: two with random signals, one with zeros, one with r - 1 everywhere. */
const fixtures: Fixtures = JSON.parse(readFileSync(new URL("../fixtures/proofs.json", import.meta.url), "utf8"));

export const CIRCUITS = Object.keys(fixtures);
export const KEYS: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(fixtures).map(([circuit, { key }]) => [circuit, key]),
);
export const PARSED: readonly VerificationKey[] = CIRCUITS.map((circuit) =>
  parseVerificationKey(KEYS[circuit], circuit),
);

export const Q = bn254.fields.Fp.ORDER;
export const R = bn254.fields.Fr.ORDER;
export const G1 = bn254.G1.Point;
export const G2 = bn254.G2.Point;
type G1Point = ReturnType<typeof G1.fromAffine>;
type G2Point = ReturnType<typeof G2.fromAffine>;

/** The `index`th proof of a circuit, starting again after the last one. */
export function claim(circuit: string, index = 0): Claim {
  const { proofs } = fixtures[circuit]!;
  return { circuit, ...proofs[index % proofs.length]! };
}

/** `count` valid proofs, alternating between the circuits. */
export function claims(count: number): Claim[] {
  return Array.from({ length: count }, (_, index) =>
    claim(CIRCUITS[index % CIRCUITS.length]!, Math.floor(index / CIRCUITS.length)),
  );
}

/** The same claim with one signal increased by 1. */
export function tampered(of: Claim, index = 0): Claim {
  const signal = String((BigInt(of.signals[index]!) + 1n) % R);
  return { ...of, signals: of.signals.with(index, signal) };
}

export function statement({ circuit, proof, signals }: Claim): Statement {
  return { key: CIRCUITS.indexOf(circuit), points: decodeProof(proof), signals: signals.map(BigInt) };
}

export const g1 = ([x, y]: readonly [bigint, bigint]): G1Point => G1.fromAffine({ x, y });
export function g2([x, y]: ProofPoints["b"]): G2Point {
  const { Fp2 } = bn254.fields;
  return G2.fromAffine({ x: Fp2.fromBigTuple([...x]), y: Fp2.fromBigTuple([...y]) });
}

export function words(a: G1Point, b: G2Point, c: G1Point): string[] {
  const [A, B, C] = [a.toAffine(), b.toAffine(), c.toAffine()];
  return encodeProof({
    a: [A.x, A.y],
    b: [
      [B.x.c0, B.x.c1],
      [B.y.c0, B.y.c1],
    ],
    c: [C.x, C.y],
  });
}

/** Checks Groth16's equation with @noble/curves, under any key. */
export function oracle(key: VerificationKey, { points, signals }: Omit<Statement, "key">): boolean {
  const keyG1 = ([x, y]: readonly string[]) => g1([BigInt(x!), BigInt(y!)]);
  const keyG2 = ([x, y]: VerificationKey["vk_beta_2"]) =>
    g2([
      [BigInt(x[0]), BigInt(x[1])],
      [BigInt(y[0]), BigInt(y[1])],
    ]);
  const statementPoint = signals.reduce(
    (sum, signal, index) => sum.add(keyG1(key.IC[index + 1]!).multiplyUnsafe(signal)),
    keyG1(key.IC[0]!),
  );
  const pairs = [
    { g1: g1(points.a), g2: g2(points.b) },
    { g1: keyG1(key.vk_alpha_1).negate(), g2: keyG2(key.vk_beta_2) },
    { g1: statementPoint.negate(), g2: keyG2(key.vk_gamma_2) },
    { g1: g1(points.c).negate(), g2: keyG2(key.vk_delta_2) },
  ];
  const { Fp12 } = bn254.fields;
  return Fp12.eql(bn254.pairingBatch(pairs.filter((pair) => !pair.g1.is0())), Fp12.ONE);
}
