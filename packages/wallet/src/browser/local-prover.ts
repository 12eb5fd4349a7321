import { type ArtifactProgress, createProver, loadArtifacts, type Prover } from "@sotto/prover";
import { indexedDbCache } from "@sotto/prover/indexeddb";
import type { ProverSource } from "./messages.ts";

export interface ProverReports {
  readonly onDownload?: ((progress: ArtifactProgress) => void) | undefined;
  readonly onCacheError?: ((error: Error) => void) | undefined;
}

/** A prover in this thread, with the service's files and a cache in IndexedDB. */
export async function createLocalProver(source: ProverSource, reports: ProverReports): Promise<Prover> {
  const { onDownload, onCacheError } = reports;
  const options = { cache: indexedDbCache(), onProgress: onDownload, onCacheError };
  return createProver(await loadArtifacts({ ...source, ...options }));
}
