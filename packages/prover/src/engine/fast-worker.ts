/** The second thread. The worker stores its share of each key and answers requests one at a time. */

import { type PartialSums, sumParts } from "../fast/prove.ts";
import { type ProvingKey, prepareKey } from "../fast/proving-key.ts";
import { parseZkey } from "../fast/zkey.ts";
import type { Reply, Request } from "./second-thread.ts";

interface Port {
  on(event: "message", listener: (request: Request) => void): void;
  postMessage(reply: Reply): void;
}

interface NodeProcess {
  getBuiltinModule(name: "node:worker_threads"): { readonly parentPort: Port | null };
}

const keys = new Map<number, ProvingKey>();

async function answer(request: Request): Promise<{ partialSums?: PartialSums }> {
  if ("prepare" in request) {
    const { key, zkey, parts } = request.prepare;
    keys.set(key, await prepareKey(parseZkey(zkey), parts));
    return {};
  }
  if ("drop" in request) {
    keys.delete(request.drop);
    return {};
  }
  const { key, witness, parts } = request.sum;
  const prepared = keys.get(key);
  if (prepared === undefined) throw new Error("this key was not prepared");
  try {
    return { partialSums: sumParts(prepared, witness, parts) };
  } finally {
    witness.fill(0);
  }
}

const { parentPort } = (globalThis as unknown as { process: NodeProcess }).process.getBuiltinModule(
  "node:worker_threads",
);
parentPort?.on("message", (request) => {
  answer(request).then(
    (reply) => parentPort.postMessage({ id: request.id, ...reply }),
    (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      parentPort.postMessage({ id: request.id, error: text });
    },
  );
});
