import { type CircuitEntry, readCircuitTable } from "@sotto/keys/circuits/circuits-json";
import { compileCircuit } from "@sotto/keys/circuits/compiler";
import { artifactPaths, type CircuitName, circuitsFolder } from "@sotto/keys/circuits/paths";
import { expect } from "chai";
import { Build } from "./compile.ts";
import { violations } from "./evaluate.ts";
import type { Inputs } from "./witness.ts";

/** One of the circuits at full size, as `pnpm build` compiles it. */
export class Circuit {
  readonly name: CircuitName;
  readonly build: Build;
  readonly entry: CircuitEntry;

  constructor(name: CircuitName, build: Build, entry: CircuitEntry) {
    this.name = name;
    this.build = build;
    this.entry = entry;
  }

  static readonly #loaded = new Map<CircuitName, Promise<Circuit>>();

  /** Compiles the circuit unless it is already compiled. */
  static load(name: CircuitName): Promise<Circuit> {
    const circuit = Circuit.#loaded.get(name) ?? Circuit.#load(name);
    Circuit.#loaded.set(name, circuit);
    return circuit;
  }

  static async #load(name: CircuitName): Promise<Circuit> {
    const paths = artifactPaths(name);
    await compileCircuit(`${circuitsFolder}/${name}.circom`, paths.folder);
    const entry = readCircuitTable()[name];
    if (entry === undefined) throw new Error(`circuits.json has no ${name}`);
    return new Circuit(name, new Build(paths), entry);
  }

  /** Signal names in wire order, arrays written out. */
  get publicNames(): string[] {
    return this.entry.publicSignals.flatMap(({ name, size }) =>
      size === 1 ? [name] : Array.from({ length: size }, (_, i) => `${name}[${i}]`),
    );
  }

  /** Asserts that a statement satisfies every constraint and has these public signals. Returns the witness. */
  async accept({ inputs, signals }: { inputs: Inputs; signals: readonly bigint[] }): Promise<bigint[]> {
    const witness = await this.build.witness(inputs);
    expect(violations(this.build.r1cs, witness), "constraints broken by an honest witness").to.deep.equal([]);
    expect(witness.slice(1, 1 + signals.length)).to.deep.equal(signals);
    return witness;
  }
}
