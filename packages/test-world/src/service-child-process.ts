// The service as a child process whose appends take milliseconds: their proofs are forged with the trapdoor of the
// development keys. The suites e2e and packages/verifier-service prove appends, in a process of the service.
import { serveParent } from "@sotto/local/demo/serve-parent";
import { forgingProver } from "@sotto/test-pool/append";

await serveParent({ prover: forgingProver });
