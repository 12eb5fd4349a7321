export { connectProver, type ProverWorker } from "./connect-prover.ts";
export type { Port } from "./messages.ts";
export { serveProver } from "./serve-prover.ts";
