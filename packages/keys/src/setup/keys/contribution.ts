import { createHash } from "node:crypto";
import { ChaCha, type Curve } from "ffjavascript";
import { uint32 } from "./binfile.ts";
import { SIZES } from "./wasm-curve.ts";

/** The minimum of snarkjs: the beacon is hashed 2^10 times. A development key needs no delay. */
const ITERATIONS_LOG = 10;
const TYPE_BEACON = 1;
const PARAMETER = { name: 1, iterations: 2, beacon: 3 } as const;
export const CONTRIBUTION_NAME = "development: from a public seed";

/**
 * The one phase 2 contribution of a development key: delta drawn from a public beacon exactly as
 * `snarkjs zkey beacon` does, so that `snarkjs zkey verify` accepts the key and prints where its delta came from.
 */
export interface BeaconContribution {
  delta: bigint;
  beacon: Uint8Array;
  /** Points in internal form: s and delta * s for a point s from the same beacon. */
  g1: Uint8Array;
  g1Delta: Uint8Array;
  /** The factor of delta, in ffjavascript's internal form. */
  factor: Uint8Array;
}

function chacha(hash: Uint8Array): ChaCha {
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength);
  return new ChaCha(Array.from({ length: 8 }, (_, index) => view.getUint32(index * 4, false)));
}

export function beaconContribution(curve: Curve, beacon: Uint8Array): BeaconContribution {
  let hash: Uint8Array = beacon;
  for (let round = 0; round < 1 << ITERATIONS_LOG; round++) hash = createHash("sha256").update(hash).digest();
  const random = chacha(hash);
  const factor = curve.Fr.fromRng(random);
  const g1 = curve.G1.toAffine(curve.G1.fromRng(random));
  const g1Delta = curve.G1.toAffine(curve.G1.timesFr(g1, factor));
  return { delta: curve.Fr.toObject(factor), beacon, g1, g1Delta, factor };
}

const g1Bytes = (curve: Curve, form: "toRprLEM" | "toRprUncompressed", point: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(SIZES.g1.affine);
  curve.G1[form](bytes, 0, point);
  return bytes;
};

/** Section 10 of a zkey: the circuit's hash and this contribution. `delta1` is the key's delta in G1, internal form. */
export function contributionSection(
  curve: Curve,
  circuitHash: Uint8Array,
  delta1: Uint8Array,
  { beacon, g1, g1Delta, factor }: BeaconContribution,
): Uint8Array[] {
  const transcript = createHash("blake2b512")
    .update(circuitHash)
    .update(g1Bytes(curve, "toRprUncompressed", g1))
    .update(g1Bytes(curve, "toRprUncompressed", g1Delta))
    .digest();
  const challenge = curve.G2.fromRng(chacha(transcript));
  const g2 = new Uint8Array(SIZES.g2.affine);
  curve.G2.toRprLEM(g2, 0, curve.G2.toAffine(curve.G2.timesFr(challenge, factor)));
  const name = new TextEncoder().encode(CONTRIBUTION_NAME);
  const parameters = Uint8Array.from([
    ...[PARAMETER.name, name.byteLength, ...name],
    ...[PARAMETER.iterations, ITERATIONS_LOG],
    ...[PARAMETER.beacon, beacon.byteLength, ...beacon],
  ]);
  const points = [delta1, g1Bytes(curve, "toRprLEM", g1), g1Bytes(curve, "toRprLEM", g1Delta), g2];
  const record = [...points, transcript, uint32(TYPE_BEACON, parameters.byteLength), parameters];
  return [circuitHash, uint32(1), ...record];
}
