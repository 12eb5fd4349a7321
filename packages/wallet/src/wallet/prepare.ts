import { readBlock } from "@sotto/chain";
import { prepareRange } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { type NoteChoice, selectApart } from "./apart.ts";
import type { WalletCore } from "./core.ts";
import { chosenBy } from "./pay.ts";
import { assertPayable, type CheckedTerms, type PaymentRequest, parsePaymentTerms } from "./payment-request.ts";
import { MAX_SLOT_AGE_SECONDS, type PreparedTerms, termsText } from "./prepared.ts";
import { type Funds, selectPaymentNote } from "./select.ts";
import { isUnseen } from "./shown.ts";
import { assertSignals } from "./signals.ts";
import type { WalletNote } from "./state.ts";

/** The terms of a payment that will be made later, without its resource. */
export type PrepareRequest = Omit<PaymentRequest, "resourceUrl" | "id">;

/**
 * Prepared payments use the last root at or before a slot of this many seconds of the chain's time. So they share their
 * roots, and show no more than that they were prepared, and that their notes are older than the slot.
 */
const SLOT_SECONDS = 120;

/** Options of a prepared payment. */
export interface PrepareOptions extends NoteChoice {
  /** Stops preparing. */
  signal?: AbortSignal | undefined;
}

/** Prepares a payment. @throws WalletError FUNDS_NOT_READY, INSUFFICIENT_FUNDS, MERGE_REQUIRED, ADDRESS_ENDED */
export async function prepare(
  core: WalletCore,
  request: PrepareRequest,
  { signal, ...choice }: PrepareOptions,
): Promise<PreparedTerms> {
  const checked = parsePaymentTerms(request);
  assertPayable(checked, core.options.clock());
  const prover = core.prover();
  if (prover.prepare === undefined)
    throw new WalletError("INVALID_OPTION", "this wallet's prover cannot prepare payments: it has no `prepare`");
  const begun = await core.lock.run(async () => {
    await core.scan({ signal });
    return begin(core, checked, request.note, choice);
  }, signal);
  const { inputs, range, note, slot } = begun;
  try {
    const [proof, proved] = await core.proofs.whenIdle(async (stop) => {
      const options = { signal: stop };
      const left = (slot + MAX_SLOT_AGE_SECONDS) * 1000 - Math.floor(core.options.clock());
      const idleMs = Math.min(left, MAX_SLOT_AGE_SECONDS * 1000);
      if (idleMs < 1) throw new WalletError("FUNDS_NOT_READY", "the prepared root became too old; prepare again");
      const made = await prover.prove("elgamal_range", range.input, options);
      assertSignals("elgamal_range", made.publicSignals, range.publicSignals);
      const prepared = await prover.prepare?.("payment", inputs.input, "resourceUrl", { ...options, idleMs });
      if (prepared === undefined) throw new WalletError("INVALID_OPTION", "this wallet's prover cannot prepare");
      return [prepared, made] as const;
    }, signal);
    const state = { ...begun, proof, range: proved, terms: termsText(checked), before: checked.before };
    return core.prepared.add(state, (now) => chosenBy(core, core.funds().spendable, checked, now)?.(note) ?? true);
  } finally {
    core.prepared.busy.delete(note.nullifier);
  }
}

/** Selects note and root, and prepares the statements. Marks the note as busy. */
async function begin(core: WalletCore, checked: CheckedTerms, asked: number | undefined, choice: NoteChoice) {
  const { prefer, only } = choice;
  const { slot, append } = await slotRoot(core);
  const usable = (notes: Funds<WalletNote>) =>
    selectPaymentNote(usableOf(core, notes, checked, append.size, asked), checked.amount, ...(prefer ? [prefer] : []));
  const note = selectApart(core, { mix: true, only }, usable);
  if (chosenBy(core, core.funds().spendable, checked, choice)?.(note) === false)
    throw new WalletError(
      "FUNDS_NOT_READY",
      "the note that a payment would spend cannot be prepared now; prepare later",
    );
  const { address, amount, lowerBound, upperBound } = checked;
  const tree = core.tree.at(core.sync.ledger, append);
  // The resource and the time are replaced when the payment is made.
  const payment = core.paymentInputs(checked, note, tree, "about:blank", core.options.clock());
  const inputs = { ...payment, input: { ...payment.input, resourceUrl: 0n } };
  const range = prepareRange({ recipient: address, amount, scalar: payment.scalar, lowerBound, upperBound });
  core.prepared.busy.add(note.nullifier);
  return { note, inputs, range, slot, size: append.size, root: append.root, set: core.prover().artifacts.set };
}

/** The notes in the tree of this size that nobody else has seen and no other preparation uses. */
function usableOf(
  core: WalletCore,
  { spendable, waiting }: Funds<WalletNote>,
  { recipient, service }: CheckedTerms,
  size: number,
  asked: number | undefined,
): Funds<WalletNote> {
  const audience = { shieldedAddress: recipient.shieldedAddress, service };
  const usable = spendable.filter(
    (note) =>
      note.leafIndex < size &&
      (asked === undefined || note.leafIndex === asked) &&
      !core.prepared.uses(note) &&
      isUnseen(core.journal, note, audience),
  );
  const total = (notes: readonly WalletNote[]): bigint => notes.reduce((sum, { amount }) => sum + amount, 0n);
  return { spendable: usable, waiting: waiting + total(spendable) - total(usable) };
}

/** The last append at or before the newest slot that a confirmed block has reached. */
async function slotRoot({ options, sync }: WalletCore) {
  const { ledger, confirmed } = sync;
  const slot = Math.floor((confirmed?.timestamp ?? 0) / SLOT_SECONDS) * SLOT_SECONDS;
  let append = ledger.appendAt(confirmed?.number ?? -1);
  while (append !== undefined && (await readBlock(options.chain, append.blockNumber)).timestamp > slot)
    append = ledger.appendAt(append.blockNumber - 1);
  if (append === undefined)
    throw new WalletError("FUNDS_NOT_READY", `no note was in the tree ${SLOT_SECONDS} s ago; prepare later`);
  return { slot, append };
}
