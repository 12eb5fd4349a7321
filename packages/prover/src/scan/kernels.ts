import { type PermuteMany, type ScanKernel, TREE_ARITY } from "@sotto/protocol";
import { XMultiplier } from "./multiply-xs.ts";
import { Permuter } from "./permuter.ts";

/** The kernel for `scanNotes` of @sotto/protocol. @returns undefined if this machine cannot run it */
export async function createScanKernel(): Promise<ScanKernel | undefined> {
  const [multiplier, permuter] = await Promise.all([XMultiplier.create(), Permuter.create(3)]);
  if (multiplier === undefined || permuter === undefined) return undefined;
  return {
    multiplyXs: (xs, k) => multiplier.multiply(xs, k),
    permuteMany: (states, outputs) => permuter.permute(states, outputs),
  };
}

/** The permutation for `NoteTree.append` of @sotto/protocol. @returns undefined if this machine cannot run it */
export async function createTreeKernel(): Promise<PermuteMany | undefined> {
  const permuter = await Permuter.create(TREE_ARITY);
  return permuter && ((states, outputs) => permuter.permute(states, outputs));
}
