import type { ArtifactProgress } from "@sotto/prover";
import type { WalletProver } from "@sotto/wallet";
import { connectProver } from "@sotto/wallet/browser";

/** A prover whose worker starts when it is first used. */
export interface LazyProver extends WalletProver {
  close(): void;
}

export interface LazyProverOptions {
  /** Base URL of the service, which serves the circuits' files. */
  readonly service: string;
  readonly set: string;
  onDownload(progress: ArtifactProgress): void;
}

export function lazyProver({ service, set, onDownload }: LazyProverOptions): LazyProver {
  let worker: Worker | undefined;
  let connected: Promise<WalletProver> | undefined;
  const connect = (): Promise<WalletProver> => {
    worker = new Worker(new URL("./prover.worker.ts", import.meta.url), { type: "module", name: "prover" });
    return connectProver(worker, { source: { service, set }, onDownload });
  };
  const ready = (): Promise<WalletProver> => {
    connected ??= connect();
    // The next proof tries again.
    connected.catch(() => {
      worker?.terminate();
      connected = undefined;
    });
    return connected;
  };
  return {
    artifacts: { set },
    async load(circuit) {
      await (await ready()).load?.(circuit);
    },
    async warm(circuit) {
      await (await ready()).warm?.(circuit);
    },
    async prove(circuit, input, options) {
      return (await ready()).prove(circuit, input, options);
    },
    close() {
      worker?.terminate();
    },
  };
}
