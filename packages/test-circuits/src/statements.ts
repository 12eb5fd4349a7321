/** A true statement of each circuit of circuits/, with the public signals by another implementation. */
import { createHash } from "node:crypto";
import type { CircuitInput } from "@sotto/groth16";
import {
  buildBabyjub,
  buildEddsa,
  buildMimc7,
  buildMimcSponge,
  buildPedersenHash,
  buildPoseidon,
  newMemEmptyTrie,
} from "circomlibjs";
import type { NamedCircuit } from "./built.ts";

/** What a circuit proves. */
export interface Statement {
  readonly input: CircuitInput;
  /** Outputs, then public inputs. */
  readonly publicSignals: readonly bigint[];
}

const SECRET = 0x5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eed5eedn;

/** The statement of a circuit; the same each time. */
export async function statementOf(circuit: NamedCircuit): Promise<Statement> {
  return STATEMENTS[circuit]();
}

const STATEMENTS: Readonly<Record<NamedCircuit, () => Promise<Statement>>> = {
  async poseidon() {
    const hash = await buildPoseidon();
    const inputs = [0n, 1n, SECRET, 3n];
    return { input: { inputs }, publicSignals: [hash.F.toObject(hash(inputs))] };
  },
  async mimc() {
    const mimc = await buildMimc7();
    const values = [0n, SECRET, 2n];
    return { input: { in: values, k: 7n }, publicSignals: [mimc.F.toObject(mimc.multiHash(values, 7n)), 7n] };
  },
  sha256: async () => sha256Statement(32),
  sha256_long: async () => sha256Statement(456),
  async eddsa() {
    const eddsa = await buildEddsa();
    const { F } = eddsa;
    const key = Buffer.alloc(32, 7);
    const message = 0x1234567890n;
    const { R8, S } = eddsa.signPoseidon(key, F.e(message));
    const [Ax, Ay] = eddsa.prv2pub(key).map((part) => F.toObject(part)) as [bigint, bigint];
    const [R8x, R8y] = R8.map((part) => F.toObject(part)) as [bigint, bigint];
    return { input: { enabled: 1n, Ax, Ay, S, R8x, R8y, M: message }, publicSignals: [1n, Ax, Ay, message] };
  },
  async smt() {
    const tree = await newMemEmptyTrie();
    for (let key = 1n; key < 40n; key++) await tree.insert(key * 101n, key);
    const [key, value] = [707n, 7n];
    const found = (await tree.find(key)).siblings.map((sibling) => tree.F.toObject(sibling));
    const siblings = [...found, ...new Array<bigint>(20 - found.length).fill(0n)];
    const root = tree.F.toObject(tree.root);
    return {
      input: { enabled: 1n, root, siblings, oldKey: 0n, oldValue: 0n, isOld0: 0n, key, value, fnc: 0n },
      publicSignals: [1n, root, key, value, 0n],
    };
  },
  async membership() {
    const poseidon = await buildPoseidon();
    const hash = (...inputs: bigint[]): bigint => poseidon.F.toObject(poseidon(inputs));
    const { siblings, sides, root } = path(hash(SECRET), 20, hash);
    const [scope, message] = [11n, 22n];
    const input = { secret: SECRET, siblings, sides, scope, message };
    return { input, publicSignals: [root, hash(scope, SECRET), scope, message] };
  },
  async mixer() {
    const [sponge, pedersen, babyjub] = await Promise.all([buildMimcSponge(), buildPedersenHash(), buildBabyjub()]);
    const hash = (left: bigint, right: bigint): bigint => sponge.F.toObject(sponge.multiHash([left, right]));
    const pedersenOf = (...values: bigint[]): bigint => {
      const bytes = Buffer.concat(values.map((value) => littleEndian(value, 31)));
      return babyjub.F.toObject(babyjub.unpackPoint(pedersen.hash(bytes))[0]);
    };
    const [nullifier, secret, recipient, fee] = [SECRET, SECRET >> 3n, 0xabcdefn, 5n];
    const { siblings, sides, root } = path(pedersenOf(nullifier, secret), 8, hash);
    const input = { nullifier, secret, siblings, sides, recipient, fee };
    return { input, publicSignals: [root, pedersenOf(nullifier), recipient, fee] };
  },
  async rsa() {
    // Two odd numbers instead of primes: the circuit checks only the equation.
    const modulus = ((1n << 512n) - 569n) * ((1n << 511n) + 1111n);
    const signature = SECRET ** 5n % modulus;
    const square = signature ** 2n;
    const cube = (square % modulus) * signature;
    const limbs = (value: bigint): bigint[] =>
      Array.from({ length: 16 }, (_, limb) => BigInt.asUintN(64, value >> BigInt(64 * limb)));
    const [key, message] = [limbs(modulus), limbs(cube % modulus)];
    const input = {
      ...{ key, message, signature: limbs(signature), square: limbs(square % modulus) },
      quotients: [limbs(square / modulus), limbs(cube / modulus)],
    };
    return { input, publicSignals: [...key, ...message] };
  },
};

/** @param length of the hashed message, bytes */
function sha256Statement(length: number): Statement {
  const message = Buffer.alloc(length, "sotto");
  const hash = createHash("sha256").update(message).digest();
  return { input: { in: bitsOf(message) }, publicSignals: bitsOf(hash) };
}

/** The bits of each byte, most significant first. */
function bitsOf(bytes: Uint8Array): bigint[] {
  return Array.from(bytes).flatMap((byte) => Array.from({ length: 8 }, (_, bit) => BigInt((byte >> (7 - bit)) & 1)));
}

function littleEndian(value: bigint, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, byte) => Number((value >> BigInt(8 * byte)) & 0xffn));
}

/** A leaf's path to a root: every third node is on the right. */
function path(leaf: bigint, levels: number, hash: (left: bigint, right: bigint) => bigint) {
  const siblings = Array.from({ length: levels }, (_, level) => BigInt(level) * 1_000_003n);
  const sides = siblings.map((_, level) => (level % 3 === 2 ? 1n : 0n));
  const root = siblings.reduce(
    (node, sibling, level) => (sides[level] === 1n ? hash(sibling, node) : hash(node, sibling)),
    leaf,
  );
  return { siblings, sides, root };
}
