/** Random constraint systems with a satisfying witness. The same seed gives the same system. */
import { createCipheriv, createHash } from "node:crypto";
import { SCALAR_FIELD_ORDER as r } from "@sotto/test-kit/random";
import type { Combination, Constraint, System } from "./r1cs-file.ts";

/** A system, and a value for each of its wires. */
export interface RandomSystem extends System {
  readonly witness: readonly bigint[];
}

/** The kinds of values that the free wires of a system have. */
export type Values = "any" | "bits" | "zeros" | "largest";

/** What to choose at random. */
export interface Shape {
  readonly seed: string;
  /** At least one. */
  readonly constraints: number;
  readonly publicSignals: number;
  /** Default: any. */
  readonly values?: Values | undefined;
  /** Wires that no constraint names. Default: 0. */
  readonly unused?: number | undefined;
}

/**
 * The first wires are free; each constraint defines one more, as the product of two combinations of at most three earlier
 * wires. Most coefficients are small, as in circuits.
 */
export function randomSystem({
  seed,
  constraints: count,
  publicSignals,
  values = "any",
  unused = 0,
}: Shape): RandomSystem {
  const random = new Numbers(seed);
  const free = publicSignals + 8;
  const witness = [1n];
  while (witness.length <= free) witness.push(freeValue(values, random));
  const combination = (): Combination => {
    const wires = new Set<number>();
    for (let left = random.below(4); left > 0; left--) wires.add(random.below(witness.length));
    return Array.from(wires, (wire) => [wire, coefficient(random)] as const);
  };
  const evaluate = (terms: Combination): bigint =>
    terms.reduce((sum, [wire, factor]) => sum + factor * (witness[wire] as bigint), 0n) % r;
  const constraints: Constraint[] = [];
  while (constraints.length < count) {
    const [a, b] = [combination(), combination()];
    constraints.push({ a, b, c: [[witness.length, 1n]] });
    witness.push((evaluate(a) * evaluate(b)) % r);
  }
  for (let left = unused; left > 0; left--) witness.push(random.element());
  return { wires: witness.length, publicSignals, constraints, witness };
}

function coefficient(random: Numbers): bigint {
  const kind = random.below(8);
  if (kind < 4) return 1n;
  if (kind < 6) return r - 1n;
  return kind === 6 ? 1n << BigInt(random.below(254)) : random.element();
}

function freeValue(values: Values, random: Numbers): bigint {
  if (values === "zeros") return 0n;
  if (values === "largest") return r - 1n;
  return values === "bits" ? BigInt(random.below(2)) : random.element();
}

/** AES in counter mode: fast enough for millions of numbers. */
class Numbers {
  readonly #key: Buffer;
  #counter = 0;
  #bytes = Buffer.alloc(0);
  #at = 0;

  constructor(seed: string) {
    this.#key = createHash("sha256").update(seed).digest();
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.byteLength) {
      const start = Buffer.alloc(16);
      start.writeUInt32BE(this.#counter++, 0);
      this.#bytes = createCipheriv("aes-256-ctr", this.#key, start).update(Buffer.alloc(1 << 16));
      this.#at = 0;
    }
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** An integer from 0 to `bound` - 1, almost uniform for small bounds. */
  below(bound: number): number {
    return this.#take(4).readUInt32LE() % bound;
  }

  /** A field element. */
  element(): bigint {
    return BigInt(`0x${this.#take(32).toString("hex")}`) % r;
  }
}
