import { hasFusedMultiplyAdd, Kernel, type Program } from "@sotto/groth16/kernel";
import { compilePoseidonKernel, WORDS_BYTES } from "./poseidon-kernel.ts";

/** Maximum pairs of states in the memory at a time. */
const PAIRS = 64;
const WORDS = WORDS_BYTES / 8;

const programs = new Map<number, Program>();

/** Poseidon's permutation of many states, like `permuteMany` of @sotto/protocol but several times as fast. */
export class Permuter {
  readonly #kernel: Kernel;
  readonly #width: number;
  /** The start of the memory as it was before the first call: constants, and the kernel's scratch memory. */
  readonly #initial: Uint8Array;
  readonly #input: number;
  readonly #output: number;
  readonly #bytes: Uint8Array;
  /** The input's and the output's words: those of two states side by side. */
  readonly #inputWords: BigUint64Array;
  readonly #outputWords: BigUint64Array;

  private constructor(kernel: Kernel, initial: Uint8Array, width: number) {
    const bytes = PAIRS * width * WORDS_BYTES;
    this.#kernel = kernel;
    this.#width = width;
    this.#initial = initial;
    this.#input = kernel.allocate(bytes);
    this.#output = kernel.allocate(bytes);
    // After the last allocation: growing the memory would detach the views.
    const { buffer } = kernel;
    this.#bytes = new Uint8Array(buffer);
    this.#inputWords = new BigUint64Array(buffer, this.#input, bytes / 8);
    this.#outputWords = new BigUint64Array(buffer, this.#output, bytes / 8);
  }

  /**
   * Compiles the kernel, once for all instances of a width.
   * @param width lanes of each state, 2 to 8
   * @returns undefined if this machine cannot run it
   */
  static async create(width: number): Promise<Permuter | undefined> {
    if (!hasFusedMultiplyAdd()) return undefined;
    const program = programs.get(width) ?? compilePoseidonKernel(width);
    programs.set(width, program);
    return new Permuter(await Kernel.instantiate(program), program.constants, width);
  }

  /**
   * Permutes the states, and then wipes them from the kernel's memory.
   * @param states `width` field elements each; they must be in [0, p), which is not checked
   * @param outputs number of lanes to return, from 1 to `width`
   */
  permute(states: readonly (readonly bigint[])[], outputs: number): bigint[][] {
    try {
      const results: bigint[][] = [];
      for (let first = 0; first < states.length; first += 2 * PAIRS)
        this.#permuteChunk(states, first, Math.min(first + 2 * PAIRS, states.length), outputs, results);
      return results;
    } finally {
      this.#bytes.set(this.#initial);
      this.#bytes.fill(0, this.#input);
    }
  }

  #permuteChunk(
    states: readonly (readonly bigint[])[],
    first: number,
    end: number,
    outputs: number,
    results: bigint[][],
  ): void {
    const [width, input, output] = [this.#width, this.#inputWords, this.#outputWords];
    /** Index of the first word of a state: the states of a pair alternate. */
    const start = (index: number, lanes: number): number =>
      ((index - first) >> 1) * lanes * WORDS + ((index - first) & 1);
    for (let index = first; index < end; index += 1) {
      const state = states[index]!;
      if (state.length !== width) throw new Error(`a state has ${state.length} lanes, not ${width}`);
      let at = start(index, width);
      for (let lane = 0; lane < width; lane += 1, at += WORDS) {
        // Assigning stores the low 64 bits.
        const number = state[lane]!;
        input[at] = number;
        input[at + 2] = number >> 64n;
        input[at + 4] = number >> 128n;
        input[at + 6] = number >> 192n;
      }
    }
    const pairs = Math.ceil((end - first) / 2);
    this.#kernel.call("permute", this.#input, this.#input + pairs * width * WORDS_BYTES, this.#output, outputs);
    for (let index = first; index < end; index += 1) {
      let at = start(index, outputs);
      results.push(
        Array.from({ length: outputs }, () => {
          const low = (output[at + 2]! << 64n) | output[at]!;
          const high = (output[at + 6]! << 64n) | output[at + 4]!;
          at += WORDS;
          return (high << 128n) | low;
        }),
      );
    }
  }
}
