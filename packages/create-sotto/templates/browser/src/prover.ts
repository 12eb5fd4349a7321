// A worker: downloads the circuits' files from the wallet's service, checks their hashes, and proves.
import { serveProver } from "@sotto/wallet/browser";

serveProver(self);
