// A worker that ends as soon as it receives proofs.
import { parentPort } from "node:worker_threads";

parentPort?.on("message", () => process.exit(1));
parentPort?.postMessage("ready");
