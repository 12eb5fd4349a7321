/** Code of the worker thread: prepares the keys once, then verifies each batch that it receives. */
import { parentPort, workerData } from "node:worker_threads";
import type { VerificationKey } from "@sotto/groth16";
import { Batch } from "./batch.ts";
import { Curve } from "./curve.ts";
import { prepareKeys } from "./keys.ts";
import type { Statement } from "./proof-statement.ts";

const curve = await Curve.load();
const batch = new Batch(curve, prepareKeys(curve, workerData as readonly VerificationKey[]));
// An error here ends the worker, because its memory may be in any state. The pool starts another.
parentPort?.on("message", (statements: readonly Statement[]) => parentPort?.postMessage(batch.verify(statements)));
parentPort?.postMessage("ready");
