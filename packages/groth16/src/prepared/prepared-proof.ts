/** A prepared proof as callers see it: finished once, or wiped after a time. */
import { groth16Error, ofCircuit } from "../errors.ts";
import { encodeProof } from "../proof/decode.ts";
import { SCALAR_FIELD_ORDER } from "../proof/orders.ts";
import type { FreeConstants } from "./constants.ts";
import { finishState, type State, wipeState } from "./state.ts";

/** Longest time that a prepared proof is kept, ms: 15 minutes. */
export const MAX_PREPARED_MS = 900_000;

/** A proof: decimal strings a.x a.y b.x0 b.x1 b.y0 b.y1 c.x c.y, and the public signals in the circuit's order. */
export interface Proof {
  /** Eight decimal strings, each below the order of the base field. */
  proof: string[];
  /** Field elements, decimal. */
  publicSignals: string[];
}

/**
 * A proof whose free signal has no value yet. The prover keeps its secrets in memory and wipes them after `finish`,
 * after `discard`, or after 15 minutes.
 */
export interface PreparedProof {
  /** Decimal strings in the circuit's order, with "0" for the free signal. */
  readonly publicSignals: readonly string[];
  /**
   * Makes the proof for a value of the free signal, in a few milliseconds. Works once.
   * @throws Groth16Error INPUT_INVALID, PREPARED_PROOF_GONE
   */
  finish(value: bigint): Promise<Proof>;
  /** Wipes the secrets. Does nothing if they are wiped already. */
  discard(): void;
}

export function createPreparedProof(
  circuit: string,
  constants: FreeConstants,
  prepared: State,
  signals: readonly bigint[],
  idleMs: number,
): PreparedProof {
  let state: State | undefined = prepared;
  const end = Date.now() + idleMs;
  const discard = (): void => {
    clearTimeout(timer);
    if (state !== undefined) wipeState(constants, state);
    state = undefined;
  };
  const timer = setTimeout(discard, idleMs);
  // Under Node, the timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  return {
    publicSignals: signals.map(String),
    async finish(value) {
      if (typeof value !== "bigint" || value < 0n || value >= SCALAR_FIELD_ORDER) {
        const message = `The value of the free signal${ofCircuit(circuit)} is not a field element as a bigint.`;
        throw groth16Error("INPUT_INVALID", message, { circuit });
      }
      // Timers do not run while a machine sleeps.
      if (Date.now() >= end) discard();
      if (state === undefined) {
        const message = `This prepared proof${ofCircuit(circuit)} was finished, discarded or not used for ${idleMs / 1000} s: make a proof without preparation.`;
        throw groth16Error("PREPARED_PROOF_GONE", message, { circuit });
      }
      try {
        const points = finishState(constants, state, value);
        const publicSignals = signals.with(constants.signal.wire - 1, value).map(String);
        return { proof: encodeProof(points), publicSignals };
      } finally {
        discard();
      }
    },
    discard,
  };
}
