import { SottoError } from "@sotto/protocol";
import type { Prover } from "@sotto/prover";
import type { Failure, Port, Reply, Request } from "./messages.ts";

const failureOf = (error: unknown): Failure => {
  if (error instanceof SottoError) return { code: error.code, message: error.message, details: error.details };
  return { code: "ENGINE_FAILED", message: error instanceof Error ? error.message : String(error), details: {} };
};

/**
 * Serves proofs in a worker for `connectProver` on the page. The witness does not leave page and worker.
 * @param port the worker's global scope, `self`
 * @param prover created in the worker, from artifacts that the worker checks
 */
export function serveProver(port: Port, prover: Pick<Prover, "prove" | "artifacts">): void {
  const running = new Map<number, AbortController>();
  const answer = async (request: Request): Promise<Reply | undefined> => {
    const { kind, id } = request;
    if (kind === "open") return { id, set: prover.artifacts.set };
    if (kind === "abort") {
      running.get(id)?.abort();
      return undefined;
    }
    const abort = new AbortController();
    running.set(id, abort);
    try {
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
}
