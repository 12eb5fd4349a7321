/** What is found out about a circuit, for anybody's circuit: certified, refuted or unknown. */

import { Explanation, type Finding, readNames } from "./explain.ts";
import { Places } from "./locate.ts";
import { searchWitnesses } from "./refute/carry.ts";
import type { SearchLimits } from "./refute/refute.ts";
import { DEFAULT_THEOREM, encodeCertificate, type Theorem } from "./replay/certificate.ts";
import { type CheckedTheorem, checkCertificate } from "./replay/check.ts";
import { inputWires, type Proof, prove, sha256 } from "./theorem.ts";

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

const ASSUMED = {
  outputs: "all inputs",
  wires: "all inputs",
  strong: "public inputs",
  source: "inputs of the source",
} as const satisfies Record<Theorem, string>;

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
  /** Default: `outputs`; or `source`, if the r1cs file has no wire for an input that an output needs. */
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
  const { theorem = DEFAULT_THEOREM, onStage, search } = options;
  const { r1cs } = circuit;
  const plain = circuit.plain?.r1cs ?? r1cs;
  onStage?.("prove");
  const proof = prove(r1cs, plain, [], ASSUMED[theorem]);
  const names = readNames(circuit.plain?.sym ?? circuit.sym ?? "");
  const [problem] = proof.problems;
  if (problem !== undefined) return unknownOutcome(theorem, problem);
  const { outputs } = proof.plain;
  if (theorem !== "wires" && outputs === 0)
    return unknownOutcome(theorem, "the circuit has no outputs: use --theorem wires, which is about every wire");
  // Every wire of the r1cs file, also one that is in no constraint.
  const claimed =
    theorem === "wires"
      ? [...new Set(proof.bridge.map)].filter((wire) => wire > 0)
      : Array.from({ length: outputs }, (_, i) => 1 + i);
  const open = claimed.filter((wire) => !proof.determined.isDetermined(wire));
  if (open.length > 0) {
    const explain = (free: number[]) => new Explanation({ ...proof, free }, names, circuit.places ?? new Places([]));
    const nameOf = (wire: number) => explain([wire]).name(wire);
    const lacking = ["strong", "source"].includes(theorem) ? undefined : lackingInputs(proof, nameOf);
    if (options.theorem === undefined && circuit.plain !== undefined && lacking !== undefined) {
      const other = certify(circuit, { theorem: "source" });
      if (other.verdict === "certified") return other;
    }
    const what = theorem === "wires" ? "wires" : "outputs";
    const reason = `${open.length} of ${claimed.length} ${what} are not shown to be determined${lacking ?? ""}`;
    const soFar = unknownOutcome(theorem, reason, open.length, explain(open).findings());
    if (search === undefined) return soFar;
    onStage?.("search", soFar);
    const found = searchWitnesses({ shipped: r1cs, plain }, proof, theorem, open, search());
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
  onStage?.("check");
  const certificate = encodeCertificate({
    theorem,
    r1cs: sha256(r1cs),
    plain: plain.equals(r1cs) ? undefined : plain,
    substitutions: proof.normalized.substitutions,
    facts: proof.facts.steps,
    steps: proof.determined.steps,
  });
  try {
    return { verdict: "certified", theorem, certificate, checked: checkCertificate(r1cs, certificate, plain) };
  } catch (error) {
    return unknownOutcome(theorem, `the second checker refuses the proof: ${(error as Error).message}`);
  }
}

/** The inputs that are not given because the file has no wire for them, to continue a sentence; undefined if there are none. */
function lackingInputs({ plain, lacking, unused }: Proof, nameOf: (wire: number) => string): string | undefined {
  const nameless = plain.inputs - inputWires(plain).length;
  if (nameless > 0)
    return `; the r1cs file alone does not say what ${nameless} of its ${plain.inputs} inputs are, because it has no wire for them: certify the .circom file, or compile with a lower level of simplification`;
  const used = lacking.filter((wire) => !unused.includes(wire));
  return used[0] === undefined
    ? undefined
    : `; the r1cs file has no wire for ${used.length} inputs, first ${nameOf(used[0])}: a lower --simplify keeps them, and --theorem source gives them`;
}
