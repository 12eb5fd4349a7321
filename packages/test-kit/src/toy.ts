/** A small circuit with its own keys from snarkjs's real setup, so that a package's tests need no other build. */
import { execFileSync } from "node:child_process";
import { createHash, getRandomValues } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as snarkjs from "snarkjs";
import { withSnarkjs } from "./with-snarkjs.ts";

/** 2^4 is enough for the toy's constraints. */
const POWER = 4;

/**
 * Builds toy/toy.wasm, toy/toy.zkey and toy/toy.vkey.json once; later runs of the same package reuse them.
 * @param tests folder of the package's tests, so that packages can be tested at the same time
 * @returns the build folder
 */
export async function buildToy(tests: string): Promise<string> {
  const folder = join(tests, "build");
  const toy = join(folder, "toy");
  const files = { zkey: join(toy, "toy.zkey"), vkey: join(toy, "toy.vkey.json"), source: join(toy, "source") };
  const source = readFileSync(join(import.meta.dirname, "toy.circom"), "utf8");
  if (existsSync(files.source) && readFileSync(files.source, "utf8") === source) return folder;
  rmSync(toy, { recursive: true, force: true });
  mkdirSync(toy, { recursive: true });
  // The compiler runs in a WASM sandbox: it sees only the files below its working directory.
  const cli = fileURLToPath(import.meta.resolve("circom2/cli.js"));
  writeFileSync(join(toy, "toy.circom"), source);
  const args = ["--no-warnings", cli, "toy.circom", "--O2", "--r1cs", "--wasm"];
  execFileSync(process.execPath, args, { cwd: toy, stdio: ["ignore", "ignore", "inherit"] });
  renameSync(join(toy, "toy_js", "toy.wasm"), join(toy, "toy.wasm"));
  const scratch = mkdtempSync(join(tmpdir(), "sotto-toy-"));
  try {
    await withSnarkjs(async (curve) => {
      const [fresh, prepared] = [join(scratch, "fresh.ptau"), join(scratch, "prepared.ptau")];
      await snarkjs.powersOfTau.newAccumulator(curve, POWER, fresh);
      const contributed = join(scratch, "contributed.ptau");
      await snarkjs.powersOfTau.contribute(fresh, contributed, "toy", String(getRandomValues(new Uint8Array(32))));
      await snarkjs.powersOfTau.preparePhase2(contributed, prepared);
      const initial = join(scratch, "initial.zkey");
      await snarkjs.zKey.newZKey(join(toy, "toy.r1cs"), prepared, initial);
      await snarkjs.zKey.contribute(initial, files.zkey, "toy", String(getRandomValues(new Uint8Array(32))));
      writeFileSync(files.vkey, JSON.stringify(await snarkjs.zKey.exportVerificationKey(files.zkey)));
      writeFileSync(files.source, source);
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** A lock with the hashes of the toy's files that are now on disk. */
export function toyLock(build: string) {
  const hash = (file: string) =>
    createHash("sha256")
      .update(readFileSync(join(build, "toy", file)))
      .digest("hex");
  return {
    set: "development",
    circuits: { toy: { wasm: hash("toy.wasm"), zkey: hash("toy.zkey"), vkey: hash("toy.vkey.json") } },
  };
}

/** A copy of the files, for tests that damage them. The caller removes it. */
export function copyToy(build: string): string {
  const copy = mkdtempSync(join(tmpdir(), "sotto-toy-copy-"));
  mkdirSync(join(copy, "toy"));
  for (const file of ["toy.wasm", "toy.zkey", "toy.vkey.json"]) {
    copyFileSync(join(build, "toy", file), join(copy, "toy", file));
  }
  return copy;
}

/** 2·3·5·7 = 210. */
export const TOY_INPUT = {
  product: 210n,
  label: "42",
  factors: [
    [2n, 3n],
    [5n, 7n],
  ],
  secret: 123456789n,
} as const;
export const TOY_SIGNALS = ["210", "42"];

/** The same with decimal strings, for scripts of other processes. */
export const TOY_INPUT_JSON = JSON.stringify(TOY_INPUT, (_, value: unknown) =>
  typeof value === "bigint" ? String(value) : value,
);
