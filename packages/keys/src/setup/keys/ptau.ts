import { binFile, uint32 } from "./binfile.ts";
import type { CombPool } from "./comb-pool.ts";
import { BASE_MODULUS, invert, mod, power, rootOfUnity, toBytes } from "./field.ts";
import { lagrangeAt, powersOf } from "./lagrange.ts";
import type { Phase1Secrets } from "./secrets.ts";
import type { GroupName } from "./wasm-curve.ts";

const BYTES_OF_COORDINATE = 32;

/**
 * The prepared powers-of-tau file of known secrets, equal to what snarkjs prepares, for its set-up and its `zkey verify`.
 * To get the same keys as ours, `logSize` must exceed the circuit's log2 domain by one. With an equal size, snarkjs reads
 * one point past a section (in its circuit hash), and Lagrange points that lack their last power.
 */
export async function makePtau(secrets: Phase1Secrets, logSize: number, pool: CombPool): Promise<Uint8Array[]> {
  const { tau, alpha, beta } = secrets;
  const size = 1 << logSize;
  const points = async (group: GroupName, scalars: bigint[]) => [(await pool.multiply(group, toBytes(scalars))).points];
  const prepared = (levels: number, factor = 1n) =>
    Array.from({ length: levels }, (_, level) => lagrangeAt(tau, level).map((value) => mod(value * factor))).flat();
  return binFile("ptau", [
    [1, [uint32(BYTES_OF_COORDINATE), toBytes([BASE_MODULUS]), uint32(logSize, logSize)]],
    [2, await points("g1", powersOf(tau, 2 * size - 1))],
    [3, await points("g2", powersOf(tau, size))],
    [4, await points("g1", powersOf(tau, size, alpha))],
    [5, await points("g1", powersOf(tau, size, beta))],
    [6, await points("g2", [beta])],
    [7, [uint32(0)]],
    [12, await points("g1", [...prepared(logSize + 1), ...lagrangeWithoutLastPower(tau, logSize + 1)])],
    [13, await points("g2", prepared(logSize + 1))],
    [14, await points("g1", prepared(logSize + 1, alpha))],
    [15, await points("g1", prepared(logSize + 1, beta))],
  ]);
}

/** The Lagrange points for twice the domain. The last power x^(n-1) is missing there, so L_i(x) lacks x^(n-1) w^i / n. */
function lagrangeWithoutLastPower(tau: bigint, logarithm: number): bigint[] {
  const size = 1n << BigInt(logarithm);
  const last = powersOf(rootOfUnity(logarithm), Number(size), mod(power(tau, size - 1n) * invert(size)));
  return lagrangeAt(tau, logarithm).map((value, index) => mod(value - last[index]!));
}
