/** Searches two witnesses of a circuit without simplification, and carries them over to the shipped .r1cs file. */
import type { Theorem } from "../replay/certificate.ts";
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
 * that the plain one has, so the search is about the plain one, and the replay about the shipped one;
 * about both for the theorems `source` and `ports`, which give inputs that only the plain one has.
 * @param open wires of the plain circuit
 * @returns the witnesses, or why there are none, to end a sentence
 */
export function searchWitnesses(
  { shipped, plain }: Files,
  proof: Proof,
  theorem: Theorem,
  open: readonly number[],
  limits: SearchLimits,
): Carried | string {
  const { outputs, publicInputs, inputs, labels } = proof.plain;
  const all = inputWires(proof.plain);
  // Two witnesses could differ in an input that is not a wire.
  if (theorem !== "strong" && new Set(all.map((wire) => labels[wire])).size < inputs)
    return "and witnesses cannot be searched without a wire for each input";
  const given = theorem === "strong" ? all.filter((wire) => wire <= outputs + publicInputs) : all;
  const found = refute({ system: proof.plain, given, targets: open, limits });
  if (found.verdict === "unknown")
    return found.reason === "limit" ? "and the search for two witnesses reached its limits" : NONE;
  const isAboutBoth = theorem === "source" || theorem === "ports";
  if (isAboutBoth && checkRefutation(plain, theorem, found.witnesses) !== undefined) return NONE;
  const map = [...proof.bridge.map];
  const [first, second] = found.witnesses;
  const carry = (witness: readonly bigint[]) => map.map((wire) => witness[wire] as bigint);
  const witnesses = [carry(first), carry(second)] as const;
  if (checkRefutation(shipped, theorem, witnesses) !== undefined) return NONE;
  const wire = open.find((one) => first[one] !== second[one]) as number;
  const values = [first[wire] as bigint, second[wire] as bigint] as const;
  return { witnesses, wire, values, given: given.map((one) => [one, first[one] as bigint]) };
}
