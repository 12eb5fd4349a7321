import type { Attack } from "../kit/attack.ts";
import { poseidon } from "../model/hash.ts";
import { on, swap } from "./define.ts";

const permutation = on("lib/poseidon.circom", "PoseidonEx(2, 1)", {
  inputs: () => ({ inputs: [1, 2], initialState: 3 }),
  harm: (read) => read("out[0]") !== poseidon([1n, 2n], 3n),
});

const plusOne = (find: string) => swap(find, `${find} + 1`);
/** The component gets every lane of `lanes` plus one. */
const lanesPlusOne = (component: string, lanes = "state") =>
  swap(
    `${component}.in <-- ${lanes};`,
    `for (var lane = 0; lane < t; lane++) { ${component}.in[lane] <-- ${lanes}[lane] + 1; }`,
  );

export const poseidonAttacks: readonly Attack[] = [
  permutation("poseidon.sbox", "an S-box with another result", plusOne("out <-- fourth * in")),
  permutation("poseidon.constants", "a round without its constants", swap("<-- in[i] + constants[i]", "<-- in[i]")),
  permutation("poseidon.mix", "a product with another matrix", plusOne("out[i] <-- lane")),
  permutation("poseidon.sparse_first", "another first lane after a partial round", plusOne("out[0] <-- first")),
  permutation(
    "poseidon.sparse_rest",
    "a partial round that leaves the other lanes unchanged",
    swap("<-- in[i] + in[0] * round[t + i]", "<-- in[i]"),
  ),
  permutation("poseidon.last", "an output that is not a lane of the last product", plusOne("out <-- sum")),
  permutation("poseidon.start", "the hash of other inputs", lanesPlusOne("add[0]")),
  permutation(
    "poseidon.full",
    "a full round of a state that the round before it did not output",
    plusOne("sboxFull[round][i].in <-- state[i]"),
  ),
  permutation("poseidon.full_add", "constants added to other lanes", lanesPlusOne("add[round + 1]")),
  permutation("poseidon.full_mix", "a matrix applied to other lanes", lanesPlusOne("mix[round]", "add[round + 1].out")),
  permutation(
    "poseidon.partial",
    "a partial round with the S-box of another lane",
    plusOne("sboxPartial[r].in <-- state[0]"),
  ),
  permutation("poseidon.partial_mix", "a sparse matrix applied to other lanes", lanesPlusOne("mixPartial[r]")),
  permutation("poseidon.out", "an output that is not the last state", plusOne("out[i] <-- mixLast[i].out")),
];
