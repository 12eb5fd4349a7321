export { type CertificateFile, decodeCertificate, type Theorem } from "./certificate.ts";
export { type CheckedTheorem, checkCertificate } from "./check.ts";
export { replay } from "./replay.ts";
