// The messages between page and worker. They must be cloneable: a bigint is, a class instance is not.

import type { CircuitInput, Proof } from "@sotto/groth16";
import type { ErrorDetails } from "@sotto/protocol";
import type { ArtifactProgress } from "@sotto/prover";

/** Where a prover's files come from. */
export interface ProverSource {
  /** Base URL of the service. */
  readonly service: string;
  /** Name of the pool's set of keys. */
  readonly set: string;
}

export type Request =
  | { readonly kind: "open"; readonly id: number; readonly source: ProverSource | undefined }
  | { readonly kind: "prove"; readonly id: number; readonly circuit: string; readonly input: CircuitInput }
  | { readonly kind: "load"; readonly id: number; readonly circuit: string }
  | { readonly kind: "warm"; readonly id: number; readonly circuit: string }
  | {
      readonly kind: "prepare";
      readonly id: number;
      readonly circuit: string;
      readonly input: CircuitInput;
      readonly free: string;
      readonly idleMs: number | undefined;
    }
  | { readonly kind: "finish"; readonly id: number; readonly prepared: number; readonly value: bigint }
  | { readonly kind: "discard"; readonly id: number; readonly prepared: number }
  | { readonly kind: "abort"; readonly id: number };

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: ErrorDetails;
}

export type Reply =
  | { readonly id: number; readonly download: ArtifactProgress }
  | { readonly id: number; readonly cacheFailure: Failure }
  | { readonly id: number; readonly set: string }
  | { readonly id: number; readonly proof: Proof }
  | { readonly id: number; readonly ready: string }
  /** The prepared proof stays in the worker, under the request's id. */
  | { readonly id: number; readonly preparedSignals: readonly string[] }
  | { readonly id: number; readonly failure: Failure };

/** The part of a Worker, or of a worker's global scope, that is used here. */
export interface Port {
  /** Sends a message to the other side. */
  postMessage(message: unknown): void;
  /** A MessagePort delivers no messages until it is started. */
  start?(): void;
  /** Calls `listener` with each message of the other side. */
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}
