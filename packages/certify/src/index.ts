export { compileCircuit, type Simplification } from "./compile.ts";
export { CertifyError, type CertifyErrorCode } from "./errors.ts";
export type { Finding } from "./explain.ts";
export { type Place, Places } from "./locate.ts";
export { type CertifyOptions, type Circuit, certify, type Outcome, type Stage, type Unknown } from "./outcome.ts";
export type { SearchLimits } from "./refute/refute.ts";
export type { Theorem } from "./replay/certificate.ts";
export type { CheckedTheorem } from "./replay/check.ts";
