// Proves in a worker of its own, so that neither the page nor the wallet waits for a proof.
import { serveProver } from "@sotto/client/browser";

serveProver(self);
