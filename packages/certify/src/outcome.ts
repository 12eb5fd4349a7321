/** What is found out about a circuit, for anybody's circuit: certified, refuted or unknown. */

import { Explanation, type Finding, readNames } from "./explain.ts";
import { Places } from "./locate.ts";
import { searchWitnesses } from "./refute/carry.ts";
import type { SearchLimits } from "./refute/refute.ts";
import { DEFAULT_THEOREM, encodeCertificate, type Theorem } from "./replay/certificate.ts";
import { type CheckedTheorem, checkCertificate } from "./replay/check.ts";
import { type Basis, createBasis, determine, type Proof, sha256 } from "./theorem.ts";

/** A circuit to certify. */
export interface Circuit {
  /** The .r1cs file that the theorem is about. */
  readonly r1cs: Buffer;
  /** The same circuit compiled without simplification (--O0), and its .sym file; a hint. Default: `r1cs` itself. */
  readonly plain?: { readonly r1cs: Buffer; readonly sym: string } | undefined;
  /** The .sym file of `r1cs`, for the names of signals, if there is no `plain`. */
  readonly sym?: string | undefined;
  /** The sources, for the places of signals. */
  readonly places?: Places | undefined;
}

/** The result for one circuit. */
export type Outcome =
  | {
      readonly verdict: "certified";
      readonly theorem: Theorem;
      /** The certificate file. The second checker has replayed it. */
      readonly certificate: Buffer;
      /** What the second checker says about it. */
      readonly checked: CheckedTheorem;
      /** Inputs in no constraint: they bind nothing. Absent if only a certificate is replayed. */
      readonly unused?: readonly string[];
    }
  | {
      readonly verdict: "refuted";
      readonly theorem: Theorem;
      /** An output, or a wire, that has two values. */
      readonly signal: string;
      /** Its value in each witness. */
      readonly values: readonly [bigint, bigint];
      /** The inputs that are given, with the values that both witnesses have. */
      readonly given: readonly { readonly signal: string; readonly value: bigint }[];
      /** Values of all wires of the .r1cs file, twice: both satisfy every constraint and agree on what is given. */
      readonly witnesses: readonly [readonly bigint[], readonly bigint[]];
      /** The place of the signal, the reason why no rule determines it, and a remedy. */
      readonly finding: Finding;
    }
  | {
      readonly verdict: "unknown";
      readonly theorem: Theorem;
      /** Why neither is shown, in one sentence. */
      readonly reason: string;
      /** How many of the claimed outputs or wires stay open. 0 if the proof fails for another reason, which `reason` names. */
      readonly open: number;
      /** The first open signals, each with its place, the reason and a remedy. */
      readonly findings: readonly Finding[];
    };

/** The outcome that shows nothing. */
export type Unknown = Extract<Outcome, { readonly verdict: "unknown" }>;

export const unknownOutcome = (
  theorem: Theorem,
  reason: string,
  open = 0,
  findings: readonly Finding[] = [],
): Unknown => ({ verdict: "unknown", theorem, reason, open, findings });

/** A stage of the work, for a progress display. */
export type Stage = "compile" | "prove" | "check" | "search";

/** What to prove, and how. */
export interface CertifyOptions {
  /**
   * Default: `outputs`; `source`, if that leaves fewer outputs open because the r1cs file has no wire for an input. Without outputs:
   * `wires`; `ports`, if that leaves wires open and there are sources.
   */
  readonly theorem?: Theorem | undefined;
  /** Is called at each stage; before the search, with the outcome so far. */
  readonly onStage?: ((stage: Stage, soFar?: Unknown) => void) | undefined;
  /** The limits of a search for two witnesses if a claimed wire stays open, read when it starts. Default: no search. */
  readonly search?: (() => SearchLimits) | undefined;
}

/**
 * Tries to prove a theorem about a circuit. It never says "certified" before the second checker has replayed the certificate.
 * It says "refuted" only of two witnesses that were replayed against the r1cs file.
 * @throws CertifyError R1CS_DAMAGED
 */
export function certify(circuit: Circuit, options: CertifyOptions = {}): Outcome {
  const { onStage, search } = options;
  const { r1cs } = circuit;
  const plain = circuit.plain?.r1cs ?? r1cs;
  onStage?.("prove");
  const basis = createBasis(r1cs, plain);
  const isOutputless = basis.plain.outputs === 0;
  // Without outputs, the theorem outputs says nothing. If every wire is determined, nothing can be wrong.
  let theorem = options.theorem ?? (isOutputless ? "wires" : DEFAULT_THEOREM);
  const [problem] = basis.problems;
  if (problem !== undefined) return unknownOutcome(theorem, problem);
  const names = readNames(circuit.plain?.sym ?? circuit.sym ?? "");
  const isPort = (wire: number) => {
    const name = names.get(basis.plain.labels[wire] as number);
    return name === undefined ? undefined : circuit.places?.isPort(name);
  };
  // Also those of which the sources do not show that they are none.
  const ports = () => Array.from(basis.plain.labels.keys()).filter((wire) => wire > 0 && isPort(wire) !== false);
  if (theorem === "ports" && circuit.places === undefined)
    return unknownOutcome(theorem, "only the sources show the components: certify the .circom file");
  let claimed = theorem === "wires" ? everyWire(basis) : [...outputsOf(basis), ...(theorem === "ports" ? ports() : [])];
  if (claimed.length === 0)
    return unknownOutcome(theorem, "the circuit has no outputs: use --theorem wires, which is about every wire");
  const openIn = ({ determined }: Proof) => claimed.filter((wire) => !determined.isDetermined(wire));
  let proof = determine(basis, [], theorem);
  let open = openIn(proof);
  const maySource = options.theorem === undefined && !isOutputless && circuit.plain !== undefined;
  if (open.length > 0 && maySource && neededInputs(basis).length > 0) {
    const other = determine(basis, [], "source");
    const left = openIn(other);
    if (left.length < open.length) [proof, theorem, open] = [other, "source", left];
  }
  // A wire with two values is not wrong by itself: the inverse of IsZero has them. One between two components is.
  const isDefaultWires = isOutputless && options.theorem === undefined;
  const between = open.length > 0 && isDefaultWires && circuit.places !== undefined ? ports() : [];
  if (between.length > 0) {
    [theorem, claimed] = ["ports", between];
    if (basis.lacking.length > 0) proof = determine(basis, [], theorem);
    open = openIn(proof);
  }
  const explain = (free: number[]) => new Explanation({ ...proof, free }, names, circuit.places ?? new Places([]));
  const nameOf = (wire: number) => explain([wire]).name(wire);
  if (open.length === 0) {
    const outcome = checkProof(circuit, proof, theorem, theorem === "ports" ? claimed : undefined, onStage);
    return outcome.verdict === "certified" ? { ...outcome, unused: basis.unused.map(nameOf) } : outcome;
  }
  const advice = isDefaultWires
    ? ", and the circuit has no outputs (--theorem wires searches for two values of any wire)"
    : lackingInputs(basis, options.theorem, nameOf);
  const reason = `${open.length} of ${claimed.length} ${CLAIMED[theorem]} are not shown to be determined${advice}`;
  const soFar = unknownOutcome(theorem, reason, open.length, explain(open).findings());
  const isTarget = (wire: number) => theorem !== "ports" || wire <= basis.plain.outputs || isPort(wire) === true;
  const targets = isDefaultWires && theorem === "wires" ? [] : open.filter(isTarget);
  if (search === undefined || targets.length === 0) return soFar;
  onStage?.("search", soFar);
  const found = searchWitnesses({ shipped: r1cs, plain }, proof, theorem, targets, search());
  if (typeof found === "string") return { ...soFar, reason: `${reason}, ${found}` };
  return {
    verdict: "refuted",
    theorem,
    signal: nameOf(found.wire),
    values: found.values,
    given: found.given.map(([wire, value]) => ({ signal: nameOf(wire), value })),
    witnesses: found.witnesses,
    finding: explain([found.wire]).findings()[0] as Finding,
  };
}

const CLAIMED: Readonly<Record<Theorem, string>> = {
  outputs: "outputs",
  wires: "wires",
  strong: "outputs",
  source: "outputs",
  ports: "outputs, inputs and outputs of components",
};

/** Every wire of the r1cs file, also one in no constraint, as wires of the plain circuit. */
const everyWire = ({ bridge }: Basis): number[] => [...new Set(bridge.map)].filter((wire) => wire > 0);

const outputsOf = ({ plain }: Basis): number[] => Array.from({ length: plain.outputs }, (_, i) => 1 + i);

/** The outcome of a proof that leaves nothing open, once the second checker has replayed it. */
function checkProof(
  { r1cs, plain: source }: Circuit,
  { normalized, facts, determined }: Proof,
  theorem: Theorem,
  ports: readonly number[] | undefined,
  onStage: CertifyOptions["onStage"],
): Outcome {
  onStage?.("check");
  const plain = source?.r1cs ?? r1cs;
  const certificate = encodeCertificate({
    theorem,
    r1cs: sha256(r1cs),
    plain: plain.equals(r1cs) ? undefined : plain,
    ports,
    substitutions: normalized.substitutions,
    facts: facts.steps,
    steps: determined.steps,
  });
  try {
    return { verdict: "certified", theorem, certificate, checked: checkCertificate(r1cs, certificate, plain) };
  } catch (error) {
    return unknownOutcome(theorem, `the second checker refuses the proof: ${(error as Error).message}`);
  }
}

/** The inputs in some constraint that the r1cs file has no wire for. */
const neededInputs = ({ lacking, unused }: Basis): number[] => lacking.filter((wire) => !unused.includes(wire));

/**
 * What helps if inputs are not given because the file has no wire for them, to continue a sentence; empty if nothing does.
 * @param theorem the one that was asked for; without one, the theorem `source` has been tried too
 */
function lackingInputs(basis: Basis, theorem: Theorem | undefined, nameOf: (wire: number) => string): string {
  const nameless = basis.plain.inputs - basis.inputs.length;
  if (nameless > 0 && theorem !== "strong")
    return `; the r1cs file alone does not say what ${nameless} of its ${basis.plain.inputs} inputs are, because it has no wire for them: certify the .circom file, or compile with a lower level of simplification`;
  const needed = neededInputs(basis);
  if (needed[0] === undefined || (theorem !== "outputs" && theorem !== "wires")) return "";
  const source = theorem === "outputs" ? ", and --theorem source gives them" : "";
  return `; the r1cs file has no wire for ${needed.length} inputs, first ${nameOf(needed[0])}: a lower --simplify keeps them${source}`;
}
