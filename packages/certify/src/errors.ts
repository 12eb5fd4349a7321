/** A file that is no circuit. R1CS_DAMAGED: it is truncated, or not an r1cs file. */
export class CertifyError extends Error {
  readonly code: "R1CS_DAMAGED";
  constructor(code: "R1CS_DAMAGED", message: string) {
    super(message);
    this.name = "CertifyError";
    this.code = code;
  }
}
