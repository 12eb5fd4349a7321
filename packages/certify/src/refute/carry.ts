/** Searches two witnesses of a circuit without simplification, and carries them over to the shipped .r1cs file. */
import { inputWires, type Proof } from "../theorem.ts";
import { refute, type SearchLimits } from "./refute.ts";
import { checkRefutation } from "./replay.ts";

const NONE = "and no two witnesses were found";

/** The two files of a proof. */
export interface Files {
  readonly shipped: Buffer;
  readonly plain: Buffer;
}

/** Two witnesses of the shipped file. */
export interface Carried {
  readonly witnesses: readonly [readonly bigint[], readonly bigint[]];
  /** A wire of the plain circuit that has two values. */
  readonly wire: number;
  readonly values: readonly [bigint, bigint];
  /** The wires of the plain circuit that are given, with their values. */
  readonly given: readonly (readonly [wire: number, value: bigint])[];
}

/**
 * Searches two witnesses that agree on the given inputs and differ in a wire of `open`. The shipped file can lack inputs
 * that the plain one has, so the search is about the plain one, and the replay about both.
 * @param onlyPublic whether only the public inputs are given
 * @param open wires of the plain circuit
 * @returns the witnesses, or why there are none, to end a sentence
 */
export function searchWitnesses(
  { shipped, plain }: Files,
  proof: Proof,
  onlyPublic: boolean,
  open: readonly number[],
  limits: SearchLimits,
): Carried | string {
  const { outputs, publicInputs, inputs, labels } = proof.plain;
  const all = inputWires(proof.plain);
  // Two witnesses could differ in an input that is not a wire.
  if (!onlyPublic && new Set(all.map((wire) => labels[wire])).size < inputs)
    return "and witnesses cannot be searched without a wire for each input";
  const given = onlyPublic ? all.filter((wire) => wire <= outputs + publicInputs) : all;
  const found = refute({ file: plain, system: proof.plain, given, targets: open, limits });
  if (found.verdict === "unknown")
    return found.reason === "limit" ? "and the search for two witnesses reached its limits" : NONE;
  const map = [...proof.bridge.map];
  const carry = (witness: readonly bigint[]) => map.map((wire) => witness[wire] as bigint);
  const witnesses = [carry(found.witnesses[0]), carry(found.witnesses[1])] as const;
  const [isGiven, isOpen] = [new Set(given), new Set(open)];
  const wiresIn = (set: ReadonlySet<number>) => [...map.keys()].filter((wire) => set.has(map[wire] as number));
  if (checkRefutation(shipped, witnesses, wiresIn(isGiven), wiresIn(isOpen)) !== undefined) return NONE;
  const { wire, values } = found.differences[0] as (typeof found.differences)[number];
  return { witnesses, wire, values, given: given.map((one) => [one, found.witnesses[0][one] as bigint]) };
}
