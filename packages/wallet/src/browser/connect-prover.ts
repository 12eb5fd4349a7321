import { Groth16Error, type Proof } from "@sotto/groth16";
import { SottoError } from "@sotto/protocol";
import type { ArtifactProgress } from "@sotto/prover";
import type { WalletProver } from "../wallet/core.ts";
import type { Failure, Port, ProverSource, Reply, Request } from "./messages.ts";

/** The part of a Worker that is used here. */
export interface ProverWorker extends Port {
  /** Calls `listener` with each message of the worker, and when it fails. */
  addEventListener(type: "message" | "error" | "messageerror", listener: (event: { data: unknown }) => void): void;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** The files that a prover in a worker uses, and callbacks for their download. */
export interface ConnectOptions {
  /**
   * Where a worker that runs `serveProver(self)` gets the circuits' files. Not needed if the worker passes its own
   * prover to `serveProver`.
   */
  source?: ProverSource | undefined;
  /** Called while a file is downloaded. */
  onDownload?: ((progress: ArtifactProgress) => void) | undefined;
  /** Called if a file cannot be cached. */
  onCacheError?: ((error: Error) => void) | undefined;
}

const errorOf = ({ code, message, details }: Failure) => new SottoError(code, message, details);
const failed = (message: string) => new Groth16Error("ENGINE_FAILED", message);

/**
 * Connects a page to a worker that runs `serveProver`, and returns a prover for its wallet. The page stays responsive
 * while the worker proves.
 * @throws SottoError ENGINE_FAILED if the worker does not start; the errors of `loadArtifacts`
 */
export async function connectProver(worker: ProverWorker, options: ConnectOptions = {}): Promise<WalletProver> {
  const { source, onDownload, onCacheError } = options;
  const waiting = new Map<number, Waiting>();
  let next = 1;
  let broken: Error | undefined;
  worker.addEventListener("message", ({ data }) => {
    const reply = data as Reply;
    if ("download" in reply) return onDownload?.(reply.download);
    if ("cacheFailure" in reply) return onCacheError?.(errorOf(reply.cacheFailure));
    waiting.get(reply.id)?.resolve(reply);
    waiting.delete(reply.id);
  });
  const fail = () => {
    broken = failed("the prover's worker failed");
    for (const { reject } of waiting.values()) reject(broken);
    waiting.clear();
  };
  worker.addEventListener("error", fail);
  worker.addEventListener("messageerror", fail);
  const ask = (request: Request): Promise<Reply> =>
    new Promise((resolve, reject) => {
      if (broken !== undefined) return reject(broken);
      waiting.set(request.id, { resolve, reject });
      worker.postMessage(request);
    });
  worker.start?.();
  const opened = await ask({ kind: "open", id: next++, source });
  if ("failure" in opened) throw errorOf(opened.failure);
  if (!("set" in opened)) throw failed("the prover's worker sent an unexpected message");
  /** Asks for work that `signal` stops. @throws SottoError the worker's */
  const work = async (request: Request, signal?: AbortSignal): Promise<Exclude<Reply, { failure: Failure }>> => {
    signal?.throwIfAborted();
    const { id } = request;
    const stop = () => worker.postMessage({ kind: "abort", id } satisfies Request);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const reply = await ask(request);
      if ("failure" in reply) throw errorOf(reply.failure);
      return reply;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  };
  const proofOf = (reply: Reply): Proof => {
    if ("proof" in reply) return reply.proof;
    throw failed("the prover's worker sent an unexpected message");
  };
  return {
    artifacts: { set: opened.set },
    async prove(circuit, input, { signal } = {}) {
      return proofOf(await work({ kind: "prove", id: next++, circuit, input }, signal));
    },
    async load(circuit) {
      await work({ kind: "load", id: next++, circuit });
    },
    async warm(circuit) {
      await work({ kind: "warm", id: next++, circuit });
    },
    async prepare(circuit, input, free, { signal, idleMs } = {}) {
      const id = next++;
      const discard = () => worker.postMessage({ kind: "discard", id: next++, prepared: id } satisfies Request);
      const reply = await work({ kind: "prepare", id, circuit, input, free, idleMs }, signal);
      if (!("preparedSignals" in reply)) throw failed("the prover's worker sent an unexpected message");
      return {
        publicSignals: reply.preparedSignals,
        finish: async (value) => proofOf(await work({ kind: "finish", id: next++, prepared: id, value })),
        discard,
      };
    },
  };
}
