import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCircuit } from "../../../src/circuits/compiler.ts";
import { artifactPaths } from "../../../src/circuits/paths.ts";

/**
 * A circuit that covers every case that a set-up distinguishes: an output, two public inputs (one constrained only by a
 * square), private wires, rows of several terms with large coefficients, and wires that are not in any B.
 */
const toySource = (output: string) => `pragma circom 2.2.0;

template Toy() {
    signal input a;
    signal input bound;
    signal input secret;
    signal output out;
    signal square <== bound * bound;
    signal chain[12];
    var sum = secret + 3 * a - 5;
    for (var i = 0; i < 12; i++) {
        chain[i] <== (sum - 7) * (sum + a);
        sum = 2 * sum - chain[i];
    }
    out <== ${output};
}

component main {public [a, bound]} = Toy();
`;

export interface Toy {
  folder: string;
  paths: ReturnType<typeof artifactPaths>;
  remove(): void;
}

/**
 * Compiles the toy into a folder of its own.
 * @param output the last expression; a different one makes a different circuit
 */
export async function compileToy(output = "sum * secret + a"): Promise<Toy> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-setup-"));
  const source = join(folder, "toy.circom");
  writeFileSync(source, toySource(output));
  await compileCircuit(source, folder);
  return {
    folder,
    paths: artifactPaths("toy", folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export const toyInput = { a: 5n, bound: 7n, secret: 11n };
