// Decrypts notes for a scan, in a thread of Node or a worker of a browser. The thread ends with the scan, so the viewing
// key does not stay in its memory.
import { scanNotes } from "@sotto/protocol";
import { createScanKernel } from "@sotto/prover/scan";
import type { ThreadReply, ThreadRequest } from "./thread-messages.ts";

/** The parts of the two kinds of workers that are used here. */
interface NodePort {
  on(event: "message", listener: (request: ThreadRequest) => void): void;
  postMessage(reply: ThreadReply): void;
}
interface WorkerScope {
  addEventListener(type: "message", listener: (event: { data: ThreadRequest }) => void): void;
  postMessage(reply: ThreadReply): void;
}
interface Global {
  process?: { getBuiltinModule?(name: "node:worker_threads"): { parentPort: NodePort | null } };
}

const kernel = createScanKernel();

async function answer({ id, viewer, notes }: ThreadRequest): Promise<ThreadReply> {
  try {
    const read = scanNotes(viewer, notes, await kernel);
    return { id, found: read.flatMap((note, index) => (note === null ? [] : [[index, note]])) };
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) };
  }
}

const port = (globalThis as unknown as Global).process?.getBuiltinModule?.("node:worker_threads").parentPort;
if (port) port.on("message", (request) => void answer(request).then((reply) => port.postMessage(reply)));
else {
  const scope = globalThis as unknown as WorkerScope;
  scope.addEventListener("message", ({ data }) => void answer(data).then((reply) => scope.postMessage(reply)));
}
