/** Another thread. The worker stores its share of each key and answers requests one at a time. */

import { pointsOf } from "./compact/roots.ts";
import { KeyOnDisk } from "./engine/key-on-disk.ts";
import type { Reply, Request } from "./engine/second-thread.ts";
import { isShared, shareOf } from "./engine/share.ts";
import type { Program } from "./fast/kernel.ts";
import { sumParts } from "./fast/prove.ts";
import { type ProvingKey, prepareKey } from "./fast/proving-key.ts";
import { parseZkey } from "./fast/zkey.ts";

interface Port {
  on(event: "message", listener: (request: Request) => void): void;
  postMessage(reply: Reply): void;
}

/** The global scope of a page's worker. */
interface PageScope {
  onmessage: ((event: { readonly data: Request }) => void) | null;
  postMessage(reply: Reply): void;
}

interface NodeProcess {
  getBuiltinModule?(name: "node:worker_threads"): { readonly parentPort: Port | null };
}

const keys = new Map<number, Promise<ProvingKey>>();
/** The kernel of roots. Each message has a copy of it; the first is kept, because each object has an instance. */
let roots: Program | undefined;

async function answer(request: Request): Promise<Omit<Reply, "id">> {
  if ("prepare" in request) {
    const { key, zkey, parts, programs } = request.prepare;
    // A failed preparation is kept too: sums that were requested in the meantime fail with the same error.
    const file = "path" in zkey ? new KeyOnDisk(zkey) : zkey;
    const prepared = Promise.resolve(file).then((file) => prepareKey(parseZkey(file), parts, programs));
    keys.set(key, prepared);
    await prepared;
    return {};
  }
  if ("points" in request) {
    const { program, degree, packed } = request.points;
    roots ??= program;
    return { points: await pointsOf(roots, degree, packed) };
  }
  if ("drop" in request) {
    keys.delete(request.drop);
    return {};
  }
  const { key, witness, parts, claims } = request.sum;
  try {
    const prepared = await keys.get(key);
    if (prepared === undefined) throw new Error("this key was not prepared");
    return { partialSums: [...sumParts(prepared, witness, parts, shareOf(claims))] };
  } finally {
    // Another worker may still read shared memory, which the thread that asked wipes.
    if (!isShared(witness)) witness.fill(0);
  }
}

function serve(request: Request, post: (reply: Reply) => void): void {
  answer(request).then(
    (reply) => post({ id: request.id, ...reply }),
    (error: unknown) => post({ id: request.id, error: error instanceof Error ? error.message : String(error) }),
  );
}

const threads = (globalThis as { readonly process?: NodeProcess }).process?.getBuiltinModule?.("node:worker_threads");
if (threads === undefined) {
  const scope = globalThis as unknown as PageScope;
  scope.onmessage = ({ data }) => serve(data, (reply) => scope.postMessage(reply));
} else {
  const { parentPort } = threads;
  parentPort?.on("message", (request) => serve(request, (reply) => parentPort.postMessage(reply)));
}
