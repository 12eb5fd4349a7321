import { SottoError } from "@sotto/protocol";
import { type Prover, ProverError } from "@sotto/prover";
import { createLocalProver } from "./local-prover.ts";
import type { Failure, Port, Reply, Request } from "./messages.ts";

type ServedProver = Pick<Prover, "prove" | "artifacts">;

const failureOf = (error: unknown): Failure => {
  if (error instanceof SottoError) return { code: error.code, message: error.message, details: error.details };
  return { code: "ENGINE_FAILED", message: error instanceof Error ? error.message : String(error), details: {} };
};

/**
 * Serves proofs in a worker for `connectProver` on the page. The witness never leaves the page and its worker.
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
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const prover = await created;
      if (prover === undefined) throw new ProverError("ENGINE_FAILED", "The prover was not opened.");
      return { id, proof: await prover.prove(request.circuit, request.input, { signal: abort.signal }) };
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
