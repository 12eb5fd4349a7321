/** Why a circuit cannot be read. `R1CS_DAMAGED`: an r1cs file is cut or lies. `INPUT_INVALID`: something else is wrong. */
export type CertifyErrorCode = "R1CS_DAMAGED" | "INPUT_INVALID" | "COMPILE_FAILED";

/** An input that is not a circuit. */
export class CertifyError extends Error {
  /** What kind of input is wrong. */
  readonly code: CertifyErrorCode;
  override readonly name = "CertifyError";

  constructor(message: string, code: CertifyErrorCode = "R1CS_DAMAGED") {
    super(message);
    this.code = code;
  }
}
