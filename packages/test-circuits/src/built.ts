/** Circuits of circuits/ and random systems with development keys, built once in build/. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCircuit } from "@sotto/keys/circuits/compiler";
import { sha256, sha256File, writeAtomically } from "@sotto/keys/circuits/files";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { isFresh, writeStamp } from "@sotto/keys/circuits/stamp";
import { type DevelopmentKey, KeyMaker } from "@sotto/keys/setup/development-keys";
import { r1csFile, type System, witnessBytes, wtnsFile } from "./r1cs-file.ts";
import { randomSystem, type Shape } from "./random-system.ts";

const home = join(import.meta.dirname, "..");

/** The circuits of circuits/. `sha256_long` has 2^18 rows. */
export type NamedCircuit =
  | "poseidon"
  | "mimc"
  | "sha256"
  | "sha256_long"
  | "eddsa"
  | "smt"
  | "membership"
  | "mixer"
  | "rsa";

/** Paths of a circuit's files. */
export type Built = Pick<ReturnType<typeof artifactPaths>, "wasm" | "zkey" | "vkey">;

/** Compiles a circuit and makes its keys, unless files of the same source exist. */
export async function builtCircuit(name: NamedCircuit): Promise<Built> {
  const { paths } = await compileCircuit(join(home, "circuits", `${name}.circom`), join(home, "build", name));
  const [stamp, inputs, outputs] = [join(paths.folder, ".keyed"), sha256File(paths.r1cs), [paths.zkey, paths.vkey]];
  if (!isFresh(stamp, inputs, outputs)) {
    await withKeyMaker((maker) => maker.make(name, paths.folder));
    writeStamp(stamp, inputs, outputs);
  }
  return paths;
}

/** Paths of a random system's files. */
export type BuiltSystem = Pick<Built, "zkey" | "vkey"> & { readonly wtns: string };

/** Writes a random system's keys and witness, unless they exist. */
export async function builtSystem(shape: Shape): Promise<BuiltSystem> {
  const sources = ["random-system.ts", "r1cs-file.ts"].map((file) => sha256File(join(import.meta.dirname, file)));
  const inputs = sha256(JSON.stringify(shape), ...sources);
  const paths = artifactPaths("system", join(home, "build", inputs.slice(0, 16)));
  const wtns = join(paths.folder, "system.wtns");
  const [stamp, outputs] = [join(paths.folder, ".built"), [paths.zkey, paths.vkey, wtns]];
  if (!isFresh(stamp, inputs, outputs)) {
    const system = randomSystem(shape);
    const { zkey, vkey } = await withKeyMaker((maker) => keyOf(maker, system));
    writeAtomically(paths.zkey, ...zkey);
    writeAtomically(paths.vkey, vkey);
    writeAtomically(wtns, wtnsFile(witnessBytes(system.witness)));
    writeStamp(stamp, inputs, outputs);
  }
  return { ...paths, wtns };
}

/** A system's development keys, in memory. */
export async function keyOf(maker: KeyMaker, system: System): Promise<DevelopmentKey> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-system-"));
  try {
    writeFileSync(artifactPaths("system", folder).r1cs, r1csFile(system));
    return await maker.key("system", folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withKeyMaker<T>(use: (maker: KeyMaker) => Promise<T>): Promise<T> {
  const maker = await KeyMaker.start();
  try {
    return await use(maker);
  } finally {
    await maker.stop();
  }
}
