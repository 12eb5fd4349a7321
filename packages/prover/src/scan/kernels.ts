import { multiplyXs, type PermuteMany, poseidonEx, type ScanKernel, TREE_ARITY } from "@sotto/protocol";
import { checked } from "./checked.ts";
import { XMultiplier } from "./multiply-xs.ts";
import { Permuter } from "./permuter.ts";

/** The permutation of @sotto/protocol, for up to all lanes but one. */
const permuteMany: PermuteMany = (states, outputs) =>
  states.map(([domain, ...inputs]) => poseidonEx(inputs, outputs, domain as bigint));

const checkedPermuter = (permuter: Permuter): PermuteMany =>
  checked((states, outputs) => permuter.permute(states, outputs), permuteMany);

/**
 * Creates the kernel for `scanNotes` of @sotto/protocol. It compares some of its results with those of @sotto/protocol, and
 * leaves the work to @sotto/protocol after a difference. Never rejects.
 * @returns undefined if this machine cannot run it
 */
export async function createScanKernel(): Promise<ScanKernel | undefined> {
  const created = await Promise.all([XMultiplier.create(), Permuter.create(3)]).catch(() => []);
  const [multiplier, permuter] = created;
  if (multiplier === undefined || permuter === undefined) return undefined;
  return {
    multiplyXs: checked((xs, ks: readonly bigint[]) => multiplier.multiply(xs, ks), multiplyXs),
    permuteMany: checkedPermuter(permuter),
  };
}

/**
 * Creates the permutation for `NoteTree.append` of @sotto/protocol, which is checked like the kernel of a scan. Never rejects.
 * @returns undefined if this machine cannot run it
 */
export async function createTreeKernel(): Promise<PermuteMany | undefined> {
  const permuter = await Permuter.create(TREE_ARITY).catch(() => undefined);
  return permuter && checkedPermuter(permuter);
}
