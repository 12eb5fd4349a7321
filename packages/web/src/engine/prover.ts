import type { WalletProver } from "@sotto/client";
import { connectProver } from "@sotto/client/browser";
import { ProverError } from "@sotto/prover";

/** A prover whose worker starts when the first proof, or `warmUp`, needs it. */
export interface LazyProver extends WalletProver {
  warmUp(): Promise<void>;
  close(): void;
}

/** @param service base address of the service, which serves the artifacts */
export function lazyProver(service: string, set: string): LazyProver {
  let worker: Worker | undefined;
  let connected: Promise<WalletProver> | undefined;
  const connect = async (): Promise<WalletProver> => {
    const name = JSON.stringify({ service, set });
    const started = new Worker(new URL("./prover.worker.ts", import.meta.url), { type: "module", name });
    worker = started;
    await new Promise<void>((resolve, reject) => {
      started.addEventListener("message", () => resolve(), { once: true });
      started.addEventListener("error", () => reject(new ProverError("ENGINE_FAILED", "the prover does not start")), {
        once: true,
      });
    });
    return connectProver(started);
  };
  const ready = (): Promise<WalletProver> => {
    connected ??= connect();
    // The next proof tries again.
    connected.catch(() => {
      connected = undefined;
    });
    return connected;
  };
  return {
    artifacts: { set },
    async warmUp() {
      await ready();
    },
    async prove(circuit, input, options) {
      return (await ready()).prove(circuit, input, options);
    },
    close() {
      worker?.terminate();
    },
  };
}
