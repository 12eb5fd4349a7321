import { SottoError } from "@sotto/protocol";
import type { CircuitInput, Proof } from "@sotto/prover";
import { ProverError } from "@sotto/prover";
import type { WalletProver } from "../wallet/core.ts";
import type { Port, Reply, Request } from "./messages.ts";

/** The part of a Worker that is used here. */
export interface ProverWorker extends Port {
  addEventListener(type: "message" | "error" | "messageerror", listener: (event: { data: unknown }) => void): void;
}

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const failed = (message: string) => new ProverError("ENGINE_FAILED", message);

/**
 * Connects a page to a worker that runs `serveProver`, and returns a prover for its wallet. The page stays responsive while
 * the worker proves.
 * @throws SottoError ENGINE_FAILED if the worker does not start
 */
export async function connectProver(worker: ProverWorker): Promise<WalletProver> {
  const waiting = new Map<number, Waiting>();
  let next = 1;
  let broken: Error | undefined;
  worker.addEventListener("message", ({ data }) => {
    const reply = data as Reply;
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
  const opened = await ask({ kind: "open", id: next++ });
  if (!("set" in opened)) throw failed("the prover's worker sent an unexpected message");
  return {
    artifacts: { set: opened.set },
    async prove(circuit: string, input: CircuitInput, { signal } = {}): Promise<Proof> {
      signal?.throwIfAborted();
      const id = next++;
      const stop = () => worker.postMessage({ kind: "abort", id } satisfies Request);
      signal?.addEventListener("abort", stop, { once: true });
      try {
        const reply = await ask({ kind: "prove", id, circuit, input });
        if ("proof" in reply) return reply.proof;
        if (!("failure" in reply)) throw failed("the prover's worker sent an unexpected message");
        const { code, message, details } = reply.failure;
        throw new SottoError(code, message, details);
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    },
  };
}
