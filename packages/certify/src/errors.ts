/** An r1cs file that is truncated, or no r1cs file. */
export class CertifyError extends Error {
  readonly code = "R1CS_DAMAGED";
  override readonly name = "CertifyError";
}
