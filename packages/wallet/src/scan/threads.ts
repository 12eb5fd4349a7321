import type { DeliveredNote, ReceivedNote, Viewer } from "@sotto/protocol";
import type { ThreadReply, ThreadRequest } from "./thread-messages.ts";

/** Maximum threads in addition to the calling one: each takes about 40 MB. */
const MAX_THREADS = 3;

/** A thread that decrypts notes. */
export interface ScanThread {
  /** Rejects if the thread fails or ends. */
  decrypt(viewer: Viewer, notes: readonly DeliveredNote[]): Promise<(ReceivedNote | null)[]>;
  end(): void;
}

/** A worker of Node or of a browser. */
interface Port {
  send(request: ThreadRequest): void;
  end(): void;
}

interface Listeners {
  reply(reply: ThreadReply): void;
  failed(error: Error): void;
}

/** The part of node:worker_threads that is used here. Node's module must not be imported in a browser. */
interface NodeWorker {
  postMessage(request: ThreadRequest): void;
  on(event: "message", listener: (reply: ThreadReply) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "exit", listener: () => void): void;
  terminate(): Promise<unknown>;
}
interface NodeProcess {
  getBuiltinModule?(name: "node:worker_threads"): {
    Worker: new (url: URL, options: { execArgv: string[]; env: object }) => NodeWorker;
  };
  getBuiltinModule?(name: "node:os"): { availableParallelism(): number };
}

const nodeProcess = (): NodeProcess | undefined => (globalThis as { process?: NodeProcess }).process;

/** Starts one thread for each core but one; none if the runtime has no workers. */
export function startThreads(): ScanThread[] {
  const start = nodeProcess()?.getBuiltinModule === undefined ? startInBrowser : startInNode;
  try {
    return Array.from({ length: Math.min(cores() - 1, MAX_THREADS) }, () => thread(start));
  } catch {
    return [];
  }
}

function cores(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  return nodeProcess()?.getBuiltinModule?.("node:os").availableParallelism() ?? navigator?.hardwareConcurrency ?? 1;
}

function thread(start: (listeners: Listeners) => Port): ScanThread {
  const pending = new Map<number, { resolve(reply: ThreadReply): void; reject(error: Error): void }>();
  let nextId = 1;
  let ended: Error | undefined;
  const failed = (error: Error) => {
    ended ??= error;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  };
  const port = start({
    reply(reply) {
      pending.get(reply.id)?.resolve(reply);
      pending.delete(reply.id);
    },
    failed,
  });
  return {
    async decrypt(viewer, notes) {
      const id = nextId++;
      const reply = await new Promise<ThreadReply>((resolve, reject) => {
        if (ended !== undefined) throw ended;
        pending.set(id, { resolve, reject });
        port.send({ id, viewer: keysOf(viewer), notes: notes.map(fieldsOf) });
      });
      if ("error" in reply) throw new Error(reply.error);
      const results: (ReceivedNote | null)[] = new Array(notes.length).fill(null);
      for (const [index, note] of reply.found) results[index] = note;
      return results;
    },
    end() {
      failed(new Error("the thread ended"));
      port.end();
    },
  };
}

/** The viewing keys only. */
const keysOf = ({ viewingKeys, ownerTag }: Viewer): Viewer => ({ viewingKeys, ownerTag });

const fieldsOf = ({ ephemeralX, amountHint, recipientCommitment }: DeliveredNote): DeliveredNote => ({
  ephemeralX,
  amountHint,
  recipientCommitment,
});

function startInNode({ reply, failed }: Listeners): Port {
  const { Worker } = nodeProcess()!.getBuiltinModule!("node:worker_threads");
  // This module runs either from source (with type stripping) or compiled.
  const name = import.meta.url.endsWith(".ts") ? "./scan.worker.ts" : "./scan.worker.js";
  // The thread needs neither the main thread's flags (--eval, --import) nor the secrets of its environment.
  const worker = new Worker(new URL(name, import.meta.url), { execArgv: [], env: {} });
  worker.on("message", reply);
  worker.on("error", failed);
  worker.on("exit", () => failed(new Error("the thread ended")));
  return { send: (request) => worker.postMessage(request), end: () => void worker.terminate() };
}

interface BrowserWorker {
  postMessage(request: ThreadRequest): void;
  addEventListener(type: "message", listener: (event: { data: ThreadReply }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
  terminate(): void;
}
declare const Worker: new (url: URL, options: { type: "module" }) => BrowserWorker;

function startInBrowser({ reply, failed }: Listeners): Port {
  // In this form bundlers recognize the worker's file.
  const worker = new Worker(new URL("./scan.worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => reply(data));
  worker.addEventListener("error", () => failed(new Error("the worker failed")));
  return { send: (request) => worker.postMessage(request), end: () => worker.terminate() };
}
