// The service as a child process whose appends take milliseconds: their proofs are forged with the trapdoor of the
// development keys. The suites relayer and e2e prove appends in the service's own process.
import { serveParent } from "../../scripts/demo/serve-parent.ts";
import { forgingProver } from "./append.ts";

await serveParent({ prover: forgingProver });
