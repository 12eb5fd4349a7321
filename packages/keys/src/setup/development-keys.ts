import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError } from "@sotto/command/command";
import { buildBn128, type Curve } from "ffjavascript";
import { sha256, sha256File, toJson, writeAtomically } from "../circuits/files.ts";
import { artifactPaths, packageVersion } from "../circuits/paths.ts";
import { isFresh, writeStamp } from "../circuits/stamp.ts";
import { CombPool } from "./keys/comb-pool.ts";
import { compileCurve } from "./keys/compile-curve.ts";
import { beaconContribution } from "./keys/contribution.ts";
import { fromBytes } from "./keys/field.ts";
import { readR1cs } from "./keys/r1cs.ts";
import { DEVELOPMENT_SEED, DEVELOPMENT_WARNING, deltaBeacon, phase1Secrets } from "./keys/secrets.ts";
import { verificationKey } from "./keys/vkey.ts";
import { WasmCurve } from "./keys/wasm-curve.ts";
import { makeZkey } from "./keys/zkey.ts";

export interface DevelopmentKey {
  /** The zkey file, in parts. */
  zkey: Uint8Array[];
  /** JSON, as snarkjs exports it. */
  vkey: string;
  /** The secrets, as JSON. */
  trapdoor: string;
}

/** Makes keys for any number of circuits with one pool of threads. Call `stop`; otherwise the process does not exit. */
export class KeyMaker {
  readonly #curve: Curve;
  readonly #wasm: WasmCurve;
  readonly #pool: CombPool;

  private constructor(curve: Curve, wasm: WasmCurve, pool: CombPool) {
    this.#curve = curve;
    this.#wasm = wasm;
    this.#pool = pool;
  }

  static async start(): Promise<KeyMaker> {
    const curve = await buildBn128(true);
    const compiled = await compileCurve(curve);
    return new KeyMaker(curve, new WasmCurve(compiled.module), CombPool.start(compiled));
  }

  get pool(): CombPool {
    return this.#pool;
  }

  /** The key of the circuit compiled to NAME.r1cs in `folder`, in memory. */
  async key(name: string, folder: string, seed = DEVELOPMENT_SEED): Promise<DevelopmentKey> {
    const secrets = phase1Secrets(seed);
    const contribution = beaconContribution(this.#curve, deltaBeacon(name, seed));
    const tools = { curve: this.#curve, wasm: this.#wasm, pool: this.#pool };
    const key = await makeZkey(readR1cs(artifactPaths(name, folder).r1cs), secrets, contribution, tools);
    const trapdoor = {
      warning: DEVELOPMENT_WARNING,
      alpha: secrets.alpha.toString(),
      beta: secrets.beta.toString(),
      delta: contribution.delta.toString(),
      ic: fromBytes(key.icScalars).map(String),
    };
    return { zkey: key.file, vkey: toJson(verificationKey(this.#curve, key)), trapdoor: toJson(trapdoor) };
  }

  /** Writes NAME.zkey, NAME.vkey.json and NAME.trapdoor.json beside NAME.r1cs. */
  async make(name: string, folder: string, seed = DEVELOPMENT_SEED): Promise<void> {
    const paths = artifactPaths(name, folder);
    const { zkey, vkey, trapdoor } = await this.key(name, folder, seed);
    writeAtomically(paths.zkey, ...zkey);
    writeAtomically(paths.vkey, vkey);
    writeAtomically(paths.trapdoor, trapdoor);
  }

  stop(): Promise<void> {
    return this.#pool.stop();
  }
}

const outputsOf = ({ zkey, vkey, trapdoor }: ReturnType<typeof artifactPaths>) => [zkey, vkey, trapdoor];

/** Hash of everything a key depends on: the r1cs, the seed, this code and its libraries. */
function inputHash(name: string, r1cs: string): string {
  const code = join(dirname(fileURLToPath(import.meta.url)), "keys");
  const sources = [
    fileURLToPath(import.meta.url),
    ...readdirSync(code)
      .sort()
      .map((file) => join(code, file)),
  ];
  const versions = ["snarkjs", "ffjavascript"].map(packageVersion);
  return sha256(JSON.stringify([name, DEVELOPMENT_SEED, ...versions, ...[r1cs, ...sources].map(sha256File)]));
}

/** Makes a circuit's keys unless undamaged ones for the same r1cs and code exist. @returns whether it made them */
export async function ensureKeys(name: string, maker: () => Promise<KeyMaker>): Promise<boolean> {
  const paths = artifactPaths(name);
  if (!existsSync(paths.r1cs)) throw new CommandError("R1CS_MISSING", `${paths.r1cs} is missing: run npm run build`);
  const stamp = join(paths.folder, ".keyed");
  const inputs = inputHash(name, paths.r1cs);
  const outputs = outputsOf(paths);
  if (isFresh(stamp, inputs, outputs)) return false;
  await (await maker()).make(name, paths.folder);
  writeStamp(stamp, inputs, outputs);
  return true;
}
