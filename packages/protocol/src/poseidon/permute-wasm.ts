import type { FieldEngine } from "../wasm/engine.ts";
import { ELEMENT } from "../wasm/limb-code.ts";
import { FULL_ROUNDS, poseidonConstants } from "./constants.ts";

/** Addresses of a width's constants and of its two states. */
interface Placed {
  readonly full: readonly number[];
  readonly matrix: number;
  readonly entry: number;
  readonly partial: number;
  readonly partialRounds: number;
  readonly state: number;
  readonly other: number;
}

function place(engine: FieldEngine, width: number): Placed {
  const { full, matrix, entry, partial } = poseidonConstants(width);
  return {
    full: full.map((constants) => engine.place(constants)),
    matrix: engine.place(matrix.flat()),
    entry: engine.place(entry.flat()),
    partial: engine.place(partial.flatMap(({ constant, row, column }) => [constant, ...row, ...column])),
    partialRounds: partial.length,
    state: engine.allocate(width),
    other: engine.allocate(width),
  };
}

const placed = new WeakMap<FieldEngine, Placed[]>();

function constantsOf(engine: FieldEngine, width: number): Placed {
  const widths = placed.get(engine) ?? [];
  placed.set(engine, widths);
  widths[width] ??= place(engine, width);
  return widths[width];
}

/** `permuteWithBigInts` in WebAssembly. */
export function permuteWithWasm(engine: FieldEngine, state: readonly bigint[], outputs: number): bigint[] {
  const width = state.length;
  const constants = constantsOf(engine, width);
  const { program } = engine;
  const half = FULL_ROUNDS / 2;
  let [lanes, mixed] = [constants.state, constants.other];
  engine.write(lanes, state);
  for (let round = 0; round < FULL_ROUNDS; round++) {
    if (round === half) program.partialRounds(lanes, constants.partial, width, constants.partialRounds);
    const matrix = round === half - 1 ? constants.entry : constants.matrix;
    const wanted = round === FULL_ROUNDS - 1 ? outputs : width;
    program.fullRound(mixed, lanes, constants.full[round]!, matrix, width, wanted);
    [lanes, mixed] = [mixed, lanes];
  }
  return Array.from({ length: outputs }, (_, i) => engine.read(lanes + i * ELEMENT));
}
