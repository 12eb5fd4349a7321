/** Reads the witness out of a generator of circom 2. */
import { type Local, ModuleBuilder } from "./assembler.ts";
import { i32, increase, loop } from "./instructions.ts";
import { SCALAR_BYTES } from "./layout.ts";

/** The module of `witnessReaderCode`. */
export function assembleWitnessReader(): Uint8Array<ArrayBuffer> {
  const module = new ModuleBuilder();
  const getWitness = module.import("generator", "getWitness", ["i32"]);
  const readShared = module.import("generator", "readSharedRWMemory", ["i32"], ["i32"]);
  module.define("read", ["i32"], (f) => {
    const [count] = f.params as [Local];
    const [index, to] = f.locals("i32", 2) as [Local, Local];
    return loop(
      i32.ltU(index.get, count.get),
      getWitness(index.get),
      Array.from({ length: SCALAR_BYTES / 4 }, (_, word) => i32.store(to.get, readShared(i32.const(word)), 4 * word)),
      increase(index, 1),
      increase(to, SCALAR_BYTES),
    );
  });
  return module.build();
}
