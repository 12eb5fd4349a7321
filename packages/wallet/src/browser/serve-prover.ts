import { Groth16Error, type PreparedProof } from "@sotto/groth16";
import { SottoError } from "@sotto/protocol";
import { type Prover, ProverError } from "@sotto/prover";
import { createLocalProver } from "./local-prover.ts";
import type { Failure, Port, Reply, Request } from "./messages.ts";

type ServedProver = Pick<Prover, "prove" | "artifacts"> & Partial<Pick<Prover, "load" | "prepare" | "warm">>;

type WorkRequest = Extract<Request, { kind: "prove" | "load" | "warm" | "prepare" | "finish" }>;

const failureOf = (error: unknown): Failure => {
  if (error instanceof SottoError) return { code: error.code, message: error.message, details: error.details };
  return { code: "ENGINE_FAILED", message: error instanceof Error ? error.message : String(error), details: {} };
};

/**
 * Serves proofs in a worker for `connectProver` on the page. The witness never leaves the page and its worker, and a
 * prepared proof never leaves the worker.
 * @param port the worker's global scope, `self`, or a port
 * @param given a prover with your own artifacts. Default: a prover with the files of the service that the page names
 *   when it connects. The files are downloaded before the first proof, must match the compiled-in hashes, and are kept
 *   in IndexedDB.
 */
export function serveProver(port: Port, given?: ServedProver): void {
  let created: Promise<ServedProver> | undefined;
  /** @throws SottoError the errors of `loadArtifacts` */
  const proverFor = ({ id, source }: Extract<Request, { kind: "open" }>): Promise<ServedProver> => {
    if (given !== undefined) return Promise.resolve(given);
    if (source === undefined)
      throw new ProverError("ARTIFACTS_SOURCE_INVALID", "The page names no service, and the worker has no prover.");
    return createLocalProver(source, {
      onDownload: (download) => port.postMessage({ id, download } satisfies Reply),
      onCacheError: (error) => port.postMessage({ id, cacheFailure: failureOf(error) } satisfies Reply),
    });
  };
  const running = new Map<number, AbortController>();
  const prepared = new Map<number, PreparedProof>();
  /** Makes the proof for a request, or prepares it or the prover. */
  const work = async (request: WorkRequest, prover: ServedProver, signal: AbortSignal): Promise<Reply> => {
    const { kind, id } = request;
    if (kind === "prove") return { id, proof: await prover.prove(request.circuit, request.input, { signal }) };
    if (kind === "load" || kind === "warm") {
      await prover[kind]?.(request.circuit);
      return { id, ready: request.circuit };
    }
    if (kind === "prepare") {
      const { circuit, input, free, idleMs } = request;
      if (prover.prepare === undefined)
        throw new Groth16Error("PREPARE_UNSUPPORTED", "The worker's prover cannot prepare proofs.");
      const made = await prover.prepare(circuit, input, free, { signal, idleMs });
      prepared.set(id, made);
      return { id, preparedSignals: made.publicSignals };
    }
    const known = prepared.get(request.prepared);
    prepared.delete(request.prepared);
    if (known === undefined)
      throw new Groth16Error("PREPARED_PROOF_GONE", "The worker does not have this prepared proof.");
    return { id, proof: await known.finish(request.value) };
  };
  const answer = async (request: Request): Promise<Reply | undefined> => {
    const { kind, id } = request;
    if (kind === "open") {
      try {
        created ??= proverFor(request);
        return { id, set: (await created).artifacts.set };
      } catch (error) {
        created = undefined;
        return { id, failure: failureOf(error) };
      }
    }
    if (kind === "abort") {
      running.get(id)?.abort();
      return undefined;
    }
    if (kind === "discard") {
      prepared.get(request.prepared)?.discard();
      prepared.delete(request.prepared);
      return undefined;
    }
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const prover = await created;
      if (prover === undefined) throw new Groth16Error("ENGINE_FAILED", "The prover was not opened.");
      return await work(request, prover, abort.signal);
    } catch (error) {
      return { id, failure: failureOf(error) };
    } finally {
      running.delete(id);
    }
  };
  port.addEventListener("message", ({ data }) => {
    void answer(data as Request).then((reply) => {
      if (reply !== undefined) port.postMessage(reply);
    });
  });
  port.start?.();
}
