// `pnpm bench groth16`: proofs of any circuit, compared with snarkjs.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "@sotto/command/median";
import { type Groth16Result, groth16 as sotto } from "@sotto/groth16";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { type BuiltSystem, builtCircuit, builtSystem, type NamedCircuit } from "@sotto/test-circuits/built";
import { statementOf } from "@sotto/test-circuits/statements";
import { groth16 as snarkjs } from "snarkjs";
import { inChromium, type Package } from "./inputs/groth16-in-chromium.ts";
import type { Print } from "./main.ts";

export const about =
  "proofs of random systems of 2^10 to 2^18 rows and of three circuits: time and memory beside snarkjs's";

const POWERS = [10, 11, 12, 13, 14, 15, 16, 17, 18];
/** Proved in Chromium too. */
const CHROMIUM_POWERS = [12, 14, 16];
const CIRCUITS: readonly NamedCircuit[] = ["membership", "mixer", "sha256"];
const PUBLIC_SIGNALS = 4;
/** How often each package proves a system: less often from 2^16 rows on. */
const [RUNS, LARGE_POWER, LARGE_RUNS] = [5, 16, 3];
/** The system that is also proved without fused multiply-add. */
const PLAIN_POWER = 14;
/**
 * How many times as fast snarkjs is with its pull request 628, at most: by its own table, 800 ms become 530 ms for a circuit with
 * 2^16 rows, and 8.6 s become 6.5 s for one with 2^21. It was not merged in November 2026.
 */
const PENDING_SPEEDUP = 1.5;

/** The two packages' proofs of one statement, from the same paths. */
interface Pair {
  readonly ours: () => Promise<unknown>;
  readonly theirs: () => Promise<unknown>;
}

/** What the proofs of a process take. */
interface Proofs {
  /** The first: milliseconds from the start of the process. */
  readonly wall: number;
  /** The most memory that the process had until then, bytes. */
  readonly peak: number;
  /** Each later one, ms. */
  readonly later: readonly number[];
}

/** Median times after a first proof of each, ms. They take turns, so that other load on the machine affects both. */
async function times(name: string, { ours, theirs }: Pair, runs: number): Promise<{ ours: number; theirs: number }> {
  const measure = async (prove: () => Promise<unknown>): Promise<number> => {
    const start = performance.now();
    await prove();
    return performance.now() - start;
  };
  await ours();
  await theirs();
  const found: { ours: number; theirs: number }[] = [];
  for (let run = 1; run <= runs; run++) {
    process.stderr.write(`  ${name}, proof ${run} of ${runs}\n`);
    found.push({ ours: await measure(ours), theirs: await measure(theirs) });
  }
  return { ours: median(found.map(({ ours }) => ours)), theirs: median(found.map(({ theirs }) => theirs)) };
}

/** Proofs in a process of their own. @param later how many are measured after the first */
function proofs(engine: "sotto" | "plain" | "snarkjs", zkey: string, wtns: string, later = 0): Proofs {
  const script = join(import.meta.dirname, "inputs", "groth16-process.mjs");
  return JSON.parse(execFileSync(process.execPath, [script, engine, zkey, wtns, String(later)], { encoding: "utf8" }));
}

const systemOf = (power: number): Promise<BuiltSystem> =>
  builtSystem({ seed: "bench", constraints: 2 ** power - PUBLIC_SIGNALS - 1, publicSignals: PUBLIC_SIGNALS });

/** @throws Error if snarkjs does not verify the proof */
async function assertValid(name: string, { proof, publicSignals }: Groth16Result, vkey: string): Promise<void> {
  const key = JSON.parse(readFileSync(vkey, "utf8"));
  if (!(await snarkjs.verify(key, publicSignals, proof))) throw new Error(`a proof of ${name} is not valid`);
}

export async function run(print: Print): Promise<void> {
  /** Compares the times of two packages. @returns how many times as fast ours is */
  const compare = async (name: string, pair: Pair, runs: number): Promise<number> => {
    const start = performance.now();
    const { ours, theirs } = await times(name, pair, runs);
    print(`groth16.${name}.ms`, ours, "ms");
    print(`groth16.${name}.snarkjs.ms`, theirs, "ms");
    print(`groth16.${name}.ratio`, theirs / ours, "times");
    process.stderr.write(`  ${name}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
    return theirs / ours;
  };
  const runsOf = (power: number): number => (power < LARGE_POWER ? RUNS : LARGE_RUNS);
  const [ratios, memories, inPage]: [number[], number[], number[]] = [[], [], []];
  try {
    for (const power of POWERS) {
      const { zkey, vkey, wtns } = await systemOf(power);
      const name = `p${power}`;
      await assertValid(name, await sotto.prove(zkey, wtns), vkey);
      const pair = { ours: () => sotto.prove(zkey, wtns), theirs: () => snarkjs.prove(zkey, wtns) };
      ratios.push(await compare(name, pair, runsOf(power)));
      if (power === PLAIN_POWER) {
        const [fused, plain] = [proofs("sotto", zkey, wtns, RUNS), proofs("plain", zkey, wtns, RUNS)];
        print("groth16.plain.ratio", median(plain.later) / median(fused.later), "times");
      }
      const [ours, theirs] = [proofs("sotto", zkey, wtns), proofs("snarkjs", zkey, wtns)];
      print(`groth16.${name}.first.ratio`, theirs.wall / ours.wall, "times");
      print(`groth16.${name}.memory.mb`, ours.peak / 1e6, "MB");
      print(`groth16.${name}.snarkjs.memory.mb`, theirs.peak / 1e6, "MB");
      print(`groth16.${name}.memory.ratio`, ours.peak / theirs.peak, "of snarkjs");
      memories.push(ours.peak / theirs.peak);
    }
    for (const name of CIRCUITS) {
      const { wasm, zkey } = await builtCircuit(name);
      const { input } = await statementOf(name);
      const pair = {
        ours: () => sotto.fullProve(input, wasm, zkey),
        theirs: () => snarkjs.fullProve(input as never, wasm, zkey),
      };
      ratios.push(await compare(name, pair, RUNS));
    }
    await inChromium(async (prove) => {
      for (const power of CHROMIUM_POWERS) {
        const { zkey, vkey, wtns } = await systemOf(power);
        const name = `chromium.p${power}`;
        await assertValid(name, await prove("sotto", zkey, wtns), vkey);
        const by = (which: Package) => () => prove(which, zkey, wtns);
        inPage.push(await compare(name, { ours: by("sotto"), theirs: by("snarkjs") }, runsOf(power)));
      }
    });
  } finally {
    await stopSnarkjs();
  }
  print("groth16.rows.min", 2 ** Math.min(...POWERS), "constraints");
  print("groth16.rows.max", 2 ** Math.max(...POWERS), "constraints");
  print("groth16.ratio.min", Math.min(...ratios), "times");
  print("groth16.pending.ratio.min", Math.min(...ratios) / PENDING_SPEEDUP, "times");
  print("groth16.memory.max", Math.max(...memories), "of snarkjs");
  print("groth16.chromium.ratio.min", Math.min(...inPage), "times");
}
