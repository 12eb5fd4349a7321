/**
 * Entry `@sotto/prover/origin`: proves and verifies that a note is in a curator's set. It imports the hashes of
 * @sotto/protocol, which a process that proves other statements loads only if it uses them.
 */
import type { ProveOptions } from "@sotto/groth16";
import { type OriginArguments, prepareOrigin } from "@sotto/protocol";
import type { Prover } from "./prover.ts";
import type { Verifier } from "./verifier.ts";

/** A proof that the note with this nullifier is in the set with this mask root. It reveals nothing else about the note. */
export interface OriginProof {
  /** Root of the curator's mask tree, a field element. The verifier must know that the curator published it. */
  readonly maskRoot: bigint;
  /** Nullifier of the note, a field element. The verifier must compare it with the payment's or the withdrawal's. */
  readonly nullifier: bigint;
  /** Eight decimal strings in the wire's order. */
  readonly proof: readonly string[];
}

/**
 * Proves an origin. Nothing in the proof depends on a payment, so a wallet can make it when the curator publishes a root, and
 * keep it until it spends the note.
 * @param prover needs the files of the circuit origin, and reads them before the first of these proofs
 * @throws SottoError NOTE_NOT_IN_MASK, INVALID_MASK_PATH, the codes of malformed arguments, and those of `Prover.prove`
 */
export async function proveOrigin(
  prover: Pick<Prover, "prove">,
  origin: OriginArguments,
  options: ProveOptions = {},
): Promise<OriginProof> {
  const { input, maskRoot, nullifier } = prepareOrigin(origin);
  const { proof } = await prover.prove("origin", input, options);
  return { maskRoot, nullifier, proof };
}

/**
 * Checks the proof only. The caller must also check that the curator published `maskRoot`, and that `nullifier` is that of the
 * payment or the withdrawal: otherwise the origin of any other note in the set is accepted.
 * @throws SottoError PROOF_* if the proof is malformed; SIGNALS_MALFORMED if the mask root or the nullifier is, or there is no
 *   origin at all; SIGNAL_RANGE, CIRCUIT_UNKNOWN
 */
export async function verifyOrigin(verifier: Pick<Verifier, "verify">, origin: OriginProof): Promise<boolean> {
  const { maskRoot, nullifier, proof } = Object(origin) as OriginProof;
  // The verifier refuses an empty text. Other values than bigints, such as an object from JSON, may have no text at all.
  const signals = [maskRoot, nullifier].map((signal) => (typeof signal === "bigint" ? String(signal) : ""));
  return verifier.verify("origin", proof, signals);
}
