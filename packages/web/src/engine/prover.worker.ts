// Proves in a separate worker, so that a proof blocks neither the page nor the wallet.
import { serveProver } from "@sotto/wallet/browser";

serveProver(self);
