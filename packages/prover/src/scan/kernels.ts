import { type PermuteMany, type ScanKernel, TREE_ARITY } from "@sotto/protocol";
import { XMultiplier } from "./multiply-xs.ts";
import { Permuter } from "./permuter.ts";

/**
 * Creates the kernel for `scanNotes` of @sotto/protocol. Never rejects.
 *
 * @returns undefined if this machine cannot run it
 */
export async function createScanKernel(): Promise<ScanKernel | undefined> {
  const created = await Promise.all([XMultiplier.create(), Permuter.create(3)]).catch(() => []);
  const [multiplier, permuter] = created;
  if (multiplier === undefined || permuter === undefined) return undefined;
  return {
    multiplyXs: (xs, k) => multiplier.multiply(xs, k),
    permuteMany: (states, outputs) => permuter.permute(states, outputs),
  };
}

/**
 * Creates the permutation for `NoteTree.append` of @sotto/protocol. Never rejects.
 *
 * @returns undefined if this machine cannot run it
 */
export async function createTreeKernel(): Promise<PermuteMany | undefined> {
  const permuter = await Permuter.create(TREE_ARITY).catch(() => undefined);
  return permuter && ((states, outputs) => permuter.permute(states, outputs));
}
