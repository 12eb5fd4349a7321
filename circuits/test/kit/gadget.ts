import { P } from "@sotto/certify/check/field";
import { interfaces } from "@sotto/keys/source/anonymous";
import { readSources, type Sources } from "@sotto/keys/source/sources";
import { expect } from "chai";
import { type Build, compile } from "./compile.ts";
import { violations } from "./evaluate.ts";
import type { Inputs } from "./witness.ts";

/** The sources on disk when the tests started. */
export const sources: Sources = readSources();

/**
 * A main with one template: `gadget("lib/hash.circom", "Hash(3, 2)")`. All inputs are public, because simplification
 * may drop a private input, and then no test could check it.
 */
export function gadget(file: string, component: string): string {
  const template = component.replace(/\(.*/s, "");
  const found = interfaces(sources, file).get(template);
  if (found === undefined) throw new Error(`${file} has no template ${template}`);
  const main = `component main { public [${found.inputs.join(", ")}] } = ${component};`;
  return `pragma circom 2.2.0;\ninclude "${file}";\n${main}`;
}

/** Compiles these mains, two at a time, before the tests that use them. */
export const prepare = async (...mains: readonly string[]): Promise<void> => {
  await Promise.all(mains.map((main) => compile(sources, main, "full")));
};

/** Reads signals that remain in a simplified circuit, such as its inputs and outputs. */
export function reader(build: Build, witness: readonly bigint[]): (name: string) => bigint {
  const wires = new Map(Array.from(build.r1cs.wireLabels, (label, wire) => [label, wire]));
  return (name) => {
    const wire = wires.get(build.symbols.label(name));
    if (wire === undefined) throw new Error(`${name} was simplified away`);
    return witness[wire] as bigint;
  };
}

/**
 * Compiles a main as it ships and runs it: the witness must satisfy every constraint. Returns a reader of its outputs.
 */
export async function run(main: string, inputs: Inputs): Promise<(name: string) => bigint> {
  const build = await compile(sources, main, "full");
  const witness = await build.witness(inputs);
  expect(violations(build.r1cs, witness), "constraints broken by an honest witness").to.deep.equal([]);
  return reader(build, witness);
}

/** The values of an output array. */
export const list = (read: (name: string) => bigint, name: string, length: number): bigint[] =>
  Array.from({ length }, (_, i) => read(`${name}[${i}]`));

/** Field elements where arithmetic is most likely to be wrong. */
export const EDGES: readonly bigint[] = [
  0n,
  1n,
  2n,
  2n ** 64n - 1n,
  2n ** 64n,
  (P - 1n) / 2n,
  (P + 1n) / 2n,
  P - 2n,
  P - 1n,
];
