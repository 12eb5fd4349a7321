import type { CircuitName, SpendableNote, Statement } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { WalletCore } from "./core.ts";

/** Options of a proof about a note. */
export interface ProveNoteOptions {
  /** Proves while no payment is being proved, and yields to payments. Default: false. */
  idle?: boolean | undefined;
  /** Stops proving. */
  signal?: AbortSignal | undefined;
}

/**
 * Proves a statement about a note of the wallet, spent or not.
 * @throws WalletError INVALID_OPTION, PROOF_MISMATCH, WALLET_CLOSED; the errors of `prepare` and of the prover; the signal's reason
 */
export async function proveNote<C extends CircuitName>(
  core: WalletCore,
  leafIndex: number,
  circuit: C,
  prepare: (note: SpendableNote) => Statement<C>,
  { idle = false, signal }: ProveNoteOptions,
): Promise<string[]> {
  const { closing, sync } = core;
  const either = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
  either.throwIfAborted();
  const note = sync.ledger.notes.get(leafIndex);
  if (note === undefined)
    throw new WalletError("INVALID_OPTION", `leafIndex is ${leafIndex}, but the wallet has no note there`);
  const statement = prepare(core.spendable(note));
  if (!idle) return core.prove(circuit, statement, either);
  return core.proofs.whenIdle((stop) => core.proveNow(circuit, statement, stop), either);
}
