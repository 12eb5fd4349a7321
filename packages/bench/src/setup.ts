import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "@sotto/command/median";
import { artifactPaths, type CircuitName, circuitNames } from "@sotto/keys/circuits/paths";
import { KeyMaker } from "@sotto/keys/setup/development-keys";
import { makePtau } from "@sotto/keys/setup/keys/ptau";
import { readR1cs } from "@sotto/keys/setup/keys/r1cs";
import { phase1Secrets } from "@sotto/keys/setup/keys/secrets";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { zKey } from "snarkjs";
import type { Print } from "./main.ts";

export const about =
  "development keys of all circuits, and of one circuit compared with snarkjs groth16 setup in the same run";

/** Both programs take turns, so that other load on the machine affects both. */
const TURNS = 3;
/** The circuit whose artifacts every payer loads. */
const COMPARED: CircuitName = "payment";

async function seconds(action: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await action();
  return (performance.now() - start) / 1000;
}

/** Makes zkeys and verification keys from the r1cs files. The time includes starting and stopping the threads. */
async function makeKeys(names: readonly CircuitName[], scratch: string): Promise<void> {
  const maker = await KeyMaker.start();
  try {
    for (const name of names) await maker.make(name, join(scratch, name));
  } finally {
    await maker.stop();
  }
}

/** A prepared powers-of-tau file from the known secrets. snarkjs's own preparation takes minutes and is not measured. */
async function writePtau(r1cs: string, path: string): Promise<void> {
  const maker = await KeyMaker.start();
  try {
    writeFileSync(path, Buffer.concat(await makePtau(phase1Secrets(), readR1cs(r1cs).logDomain + 1, maker.pool)));
  } finally {
    await maker.stop();
  }
}

export async function run(print: Print): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "sotto-bench-"));
  try {
    for (const name of circuitNames) {
      mkdirSync(join(scratch, name));
      copyFileSync(artifactPaths(name).r1cs, artifactPaths(name, join(scratch, name)).r1cs);
    }
    const { r1cs } = artifactPaths(COMPARED);
    const ptau = join(scratch, "known.ptau");
    await writePtau(r1cs, ptau);
    const times = { all: [] as number[], ours: [] as number[], theirs: [] as number[] };
    for (let turn = 1; turn <= TURNS; turn++) {
      process.stderr.write(`  turn ${turn} of ${TURNS}\n`);
      times.all.push(await seconds(() => makeKeys(circuitNames, scratch)));
      times.ours.push(await seconds(() => makeKeys([COMPARED], scratch)));
      times.theirs.push(
        await seconds(async () => {
          await zKey.newZKey(r1cs, ptau, join(scratch, "snarkjs.zkey"));
          await stopSnarkjs();
        }),
      );
    }
    print("setup.dev.seconds", median(times.all), "s");
    print(`setup.${COMPARED}.seconds`, median(times.ours), "s");
    print(`setup.snarkjs.${COMPARED}.seconds`, median(times.theirs), "s");
    print("setup.speedup", median(times.theirs.map((theirs, turn) => theirs / times.ours[turn]!)), "times");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
