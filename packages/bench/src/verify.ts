// `pnpm bench verify`: verifying the two proofs of a payment, compared with snarkjs and a warm curve.
import { readFileSync } from "node:fs";
import { median } from "@sotto/command/median";
import { quantile } from "@sotto/command/quantile";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { createVerifyEngine, type VerifyEngine } from "@sotto/verifier-service";
import { groth16 } from "snarkjs";
import { measureFlood } from "./inputs/flood.ts";
import type { Print } from "./main.ts";

export const about =
  "verifying the two proofs of a payment, alone, under load and beside a flood, and snarkjs in the same run";

const CIRCUITS = ["payment", "elgamal_range"] as const;
/**
 * Per turn: pairs verified one after another, pairs that arrive together, and how many of the latter snarkjs verifies.
 */
const [ALONE, TOGETHER, TOGETHER_SNARKJS, TURNS] = [8, 64, 16, 5];

interface Claim {
  readonly circuit: (typeof CIRCUITS)[number];
  readonly proof: string[];
  readonly signals: string[];
}
type Pair = readonly Claim[];
type Keys = Record<string, { readonly nPublic: number }>;

/** Proofs forged with the development keys; a verifier cannot distinguish them from others. */
function makePairs(keys: Keys, count: number): Pair[] {
  return Array.from({ length: count }, (_, pair) =>
    CIRCUITS.map((circuit) => {
      const signals = Array.from(
        { length: keys[circuit]!.nPublic },
        (_, index) => BigInt(pair + 1) ** BigInt(70 + index),
      );
      const forged = proveWithTrapdoor(
        circuit,
        signals.map((signal) => signal % 2n ** 253n),
      );
      return { circuit, proof: forged.proof, signals: forged.publicSignals };
    }),
  );
}

function assertAllTrue(results: readonly boolean[]): void {
  if (!results.every(Boolean)) throw new Error("a valid proof was rejected");
}

const withEngine = (engine: VerifyEngine) => (pair: Pair) =>
  Promise.all(pair.map(({ circuit, proof, signals }) => engine.verify(circuit, proof, signals, "bench")));

const withSnarkjs = (keys: Keys) => async (pair: Pair) => {
  const results: boolean[] = [];
  for (const { circuit, proof, signals } of pair)
    results.push(await groth16.verify(keys[circuit] as never, signals, snarkjsProof(proof)));
  return results;
};

/** Pairs per second. */
async function rate(pairs: readonly Pair[], verify: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await verify();
  return (pairs.length * 1000) / (performance.now() - start);
}

function oneByOne(pairs: readonly Pair[], verify: (pair: Pair) => Promise<boolean[]>): Promise<number> {
  return rate(pairs, async () => {
    for (const pair of pairs) assertAllTrue(await verify(pair));
  });
}

function allAtOnce(pairs: readonly Pair[], verify: (pair: Pair) => Promise<boolean[]>): Promise<number> {
  return rate(pairs, async () => assertAllTrue((await Promise.all(pairs.map(verify))).flat()));
}

/**
 * Both verifiers are warm and take turns on the same pairs, one at a time and many at once. snarkjs keeps its curve and its
 * threads, one for each core, and distributes the pairings of one proof among them.
 */
export async function run(print: Print): Promise<void> {
  const keys: Keys = Object.fromEntries(
    CIRCUITS.map((circuit) => [circuit, JSON.parse(readFileSync(artifactPaths(circuit).vkey, "utf8"))]),
  );
  const pairs = makePairs(keys, TOGETHER);
  const [few, some] = [pairs.slice(0, ALONE), pairs.slice(0, TOGETHER_SNARKJS)];
  const engine = await createVerifyEngine({ verificationKeys: keys });
  const [ours, theirs] = [withEngine(engine), withSnarkjs(keys)];
  const rates = { single: [] as number[], load: [] as number[], snarkjs: [] as number[], snarkjsLoad: [] as number[] };
  try {
    await allAtOnce(pairs, ours);
    await oneByOne(few, theirs);
    for (let turn = 1; turn <= TURNS; turn++) {
      process.stderr.write(`  turn ${turn} of ${TURNS}\n`);
      rates.snarkjs.push(await oneByOne(few, theirs));
      rates.single.push(await oneByOne(few, ours));
      rates.snarkjsLoad.push(await allAtOnce(some, theirs));
      rates.load.push(await allAtOnce(pairs, ours));
    }
  } finally {
    await engine.close();
    await stopSnarkjs();
  }
  print("verify.speedup.single", median(rates.single) / median(rates.snarkjs), "times");
  print("verify.speedup.load", median(rates.load) / median(rates.snarkjsLoad), "times");
  print("verify.pair.perSecond", median(rates.load), "pairs/s");
  print("verify.pair.ms", 1000 / median(rates.single), "ms");
  print("verify.pair.snarkjs.ms", 1000 / median(rates.snarkjs), "ms");
  print("verify.pair.snarkjs.perSecond", median(rates.snarkjsLoad), "pairs/s");
  print("verify.flood.p99.ms", quantile(await measureFlood(), 0.99), "ms");
}
