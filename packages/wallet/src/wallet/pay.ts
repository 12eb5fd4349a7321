import type { PaymentCall } from "@sotto/protocol";
import { type PaymentInputs, prepareRange, type WireBundle, withResource } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import { type MixOption, type NoteChoice, selectApart } from "./apart.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import type { PaymentRecord } from "./journal.ts";
import {
  assertPayable,
  type CheckedPayment,
  type CheckedTerms,
  type PaymentRequest,
  parsePaymentRequest,
} from "./payment-request.ts";
import type { TakenPayment } from "./prepared.ts";
import { reusableNotes } from "./reuse.ts";
import { type Funds, selectPaymentNote } from "./select.ts";
import { isUnseen, wasWithdrawn } from "./shown.ts";
import { assertSignals } from "./signals.ts";
import { fundsOf, isExposed, type WalletNote } from "./state.ts";

/** The circuits of a payment's two proofs, the slower one first. */
export const PAYMENT_CIRCUITS = ["payment", "elgamal_range"] as const;

/** A proved payment, ready for a service's verify endpoint, or for anyone to submit on chain. */
export interface Payment {
  /** Id of the payment, 32 hex digits. */
  id: string;
  /** The body of the verify request. */
  bundle: WireBundle;
  /** One payment for the contract's `settle`; `settleCall` encodes several. */
  settle: PaymentCall;
  /** Last second in which it can settle. */
  validUntil: number;
  /** Decimal. Together with the digest, it identifies the payment on chain. */
  nullifier: string;
  /** keccak256 of the public signals. */
  digest: string;
}

/** Maximum seconds by which the clock may be behind the chain, so that a proof stays valid for at least two minutes. */
const MAX_LAG = 60;

interface Choice extends ScanOptions, NoteChoice, MixOption {
  /** The fee of a merge; only for `payMerging`. */
  mergeFee?: bigint;
}

/**
 * Makes a payment: selects a note, journals the attempt and proves it, or finishes a prepared payment with the same
 * terms. Nothing is sent. The note is held until the payment settles or can no longer settle. With a prepared payment it
 * does not scan first: another spend of the note since the last scan is found when the service refuses the payment.
 * @throws WalletError MERGE_REQUIRED. With `mergeFee`, also if others have seen every note that is large enough,
 *   and a merge can turn one of them into a note that nobody knows (details.shown is its leaf index)
 */
export async function pay(core: WalletCore, request: PaymentRequest, options: Choice = {}): Promise<Payment> {
  const checked = parsePaymentRequest(request);
  core.prover();
  const begun = await core.lock.run(async () => {
    const { id = hexlify(randomBytes(16)).slice(2) } = request;
    if (core.journal.spends.has(id)) throw new WalletError("INVALID_OPTION", `a payment with id ${id} already exists`);
    core.closing.signal.throwIfAborted();
    options.signal?.throwIfAborted();
    const { spendable } = core.funds();
    // An exposed note must be spent first, so a prepared payment of another note waits.
    const taken = isExposedFor(core, spendable, checked, options)
      ? undefined
      : core.prepared.take(checked, request.note, chosenBy(core, spendable, checked, options));
    if (taken === undefined) {
      core.loadProver(PAYMENT_CIRCUITS);
      await core.scan(options);
    }
    const note = taken?.note ?? choose(core, request, checked, options);
    const { recipient, service, resourceUrl } = checked;
    try {
      const record: PaymentRecord = {
        kind: "payment",
        id,
        created: core.now(MAX_LAG),
        notes: [note.leafIndex],
        nullifiers: [String(note.nullifier)],
        attempts: [],
        recipient,
        service,
        amount: String(checked.amount),
        lowerBound: String(checked.lowerBound),
        upperBound: String(checked.upperBound),
        resourceUrl,
        before: checked.before ?? null,
        proof: null,
      };
      return await begin(core, record, checked, note, taken);
    } catch (error) {
      taken?.proof.discard();
      throw error;
    }
  }, options.signal);
  return finish(core, begun, options.signal);
}

/**
 * Makes another attempt at a payment from the same note, with fresh randomness and a new deadline. At most one of all
 * attempts can settle, so it is safe at any time.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED, UNKNOWN_PAYMENT, ADDRESS_ENDED
 */
export async function payAgain(core: WalletCore, id: string, options: ScanOptions = {}): Promise<Payment> {
  const known = core.journal.get(id);
  if (known.kind !== "payment") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a withdrawal, not a payment`);
  core.loadProver(PAYMENT_CIRCUITS);
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const [note] = reusableNotes(core, known);
    const { recipient, resourceUrl } = known;
    const [service, before] = [known.service ?? undefined, known.before ?? undefined];
    const [amount, lowerBound, upperBound] = [known.amount, known.lowerBound, known.upperBound].map(BigInt);
    const bounds = { lowerBound: lowerBound!, upperBound: upperBound! };
    return begin(
      core,
      known,
      parsePaymentRequest({ recipient, amount: amount!, resourceUrl, service, before, ...bounds }),
      note!,
    );
  }, options.signal);
  return finish(core, begun, options.signal);
}

/** Whether one note suffices for a payment that may spend it. */
const suffices =
  ({ amount }: CheckedTerms, { only }: NoteChoice) =>
  (note: WalletNote): boolean =>
    note.amount >= amount && (only?.(note) ?? true);

/** Whether an exposed note suffices for this payment, as of the last scan. */
function isExposedFor(
  core: WalletCore,
  spendable: readonly WalletNote[],
  checked: CheckedPayment,
  choice: NoteChoice,
): boolean {
  const isEnough = suffices(checked, choice);
  return spendable.some((note) => isEnough(note) && isExposed(note, core.view));
}

/** Whether a note is one that nobody else than the recipient and the service of a payment has seen. */
function unseenBy({ journal }: WalletCore, { recipient: { shieldedAddress }, service }: CheckedTerms) {
  return (note: FoundNote): boolean => isUnseen(journal, note, { shieldedAddress, service });
}

/** Whether `choose` would choose an unseen note that was prepared for a payment; undefined if it would choose any. */
export function chosenBy(
  core: WalletCore,
  spendable: readonly WalletNote[],
  checked: CheckedTerms,
  choice: NoteChoice,
) {
  const { prefer, only } = choice;
  if (prefer === undefined && only === undefined) return undefined;
  const unseen = unseenBy(core, checked);
  return (prepared: FoundNote): boolean => {
    const enough = spendable.filter(suffices(checked, choice));
    const preferred = prefer === undefined ? [] : enough.filter((note) => unseen(note) && prefer(note));
    return (preferred.length > 0 ? preferred : enough).some(({ leafIndex }) => leafIndex === prepared.leafIndex);
  };
}

/**
 * Selects the note to pay from: an exposed one, or else preferably one that was shown only to the same recipient and
 * service.
 */
function choose(
  core: WalletCore,
  { note: asked }: PaymentRequest,
  checked: CheckedPayment,
  { mergeFee, prefer, only, mix = false }: Choice,
) {
  const { journal } = core;
  const unseen = unseenBy(core, checked);
  const wanted = prefer === undefined ? [] : [(each: WalletNote) => unseen(each) && prefer(each), unseen, prefer];
  const select = (all: Funds<WalletNote>) => {
    const funds = reduce(all, asked);
    const exposed = funds.spendable.filter((each) => each.amount >= checked.amount && isExposed(each, core.view));
    const usable = exposed.length > 0 ? { ...funds, spendable: exposed } : funds;
    return selectPaymentNote(usable, checked.amount, ...wanted, unseen);
  };
  // Groups matter only to the merge that several notes would need.
  const notes = core.notes();
  const isOneEnough = fundsOf(notes).spendable.some(suffices(checked, { only }));
  const note = selectApart({ groups: core.groups, notes: () => notes }, { mix: mix || isOneEnough, only }, select);
  const mergeable = mergeFee !== undefined && note.amount >= checked.amount + mergeFee && !wasWithdrawn(journal, note);
  if (asked !== undefined || unseen(note) || !mergeable) return note;
  const { leafIndex } = note;
  throw new WalletError("MERGE_REQUIRED", `note ${leafIndex} was shown to others; merge it first`, {
    shown: leafIndex,
  });
}

/** The funds reduced to a single spendable note. */
function reduce(funds: Funds<WalletNote>, leafIndex: number | undefined): Funds<WalletNote> {
  if (leafIndex === undefined) return funds;
  return { ...funds, spendable: funds.spendable.filter((note) => note.leafIndex === leafIndex) };
}

interface Begun {
  record: PaymentRecord;
  inputs: PaymentInputs;
  checked: CheckedPayment;
  timestamp: number;
  taken: TakenPayment | undefined;
}

/** Journals an attempt before its proof is made, because an unjournaled proof could settle unnoticed. */
async function begin(
  core: WalletCore,
  known: PaymentRecord,
  checked: CheckedPayment,
  note: FoundNote,
  taken?: TakenPayment,
): Promise<Begun> {
  const timestamp = core.now(MAX_LAG);
  assertPayable(checked, timestamp);
  const { chainId, pool } = core.options.info;
  const inputs =
    taken === undefined
      ? core.paymentInputs(checked, note, core.confirmedTree(), checked.resourceUrl, timestamp)
      : withResource(taken.inputs, { chainId, pool, resourceUrl: checked.resourceUrl, timestamp });
  const { validUntil, digest, input } = inputs;
  const attempt = { validUntil: Number(validUntil), digest, timestamp, root: String(input.root) };
  const record: PaymentRecord = { ...known, attempts: [...known.attempts, attempt], proof: null };
  await core.journal.begin(record);
  return { record, inputs, checked, timestamp, taken };
}

async function finish(core: WalletCore, begun: Begun, signal?: AbortSignal): Promise<Payment> {
  const { record, inputs, checked, timestamp, taken } = begun;
  const { scalar, encryptedAmount, senderCommitment, validUntil, resourceDigest, digest, nullifier } = inputs;
  const complete = () =>
    core.proofs.now(async () => {
      const made = await core.prove("payment", inputs, signal);
      return { proof: made, range: await proveRange(core, checked, scalar, signal) };
    });
  const { proof, range } =
    taken === undefined
      ? await complete()
      : { proof: await finishTaken(core, taken, inputs, signal), range: taken.range };
  const publicSignals = inputs.publicSignals.map(String);
  const bundle: WireBundle = {
    proof,
    publicSignals,
    encryptedAmount,
    amountProof: range.proof,
    amountPublicSignals: range.publicSignals,
    senderCommitment: String(senderCommitment),
    recipientPublicKey: checked.recipient.wallet,
    resourceUrl: checked.resourceUrl,
    timestamp,
  };
  const settle: PaymentCall = { proof, signals: publicSignals, validUntil: String(validUntil), resourceDigest };
  await core.journal.prove(record, digest, { bundle, settle });
  return { id: record.id, bundle, settle, validUntil: Number(validUntil), nullifier: String(nullifier), digest };
}

/** Finishes a prepared payment. If the prover has lost it, proves the same statement, which is journaled already. */
async function finishTaken(core: WalletCore, taken: TakenPayment, inputs: PaymentInputs, signal?: AbortSignal) {
  try {
    const { proof, publicSignals } = await taken.proof.finish(inputs.input.resourceUrl);
    assertSignals("payment", publicSignals, inputs.publicSignals);
    return proof;
  } catch {
    return core.prove("payment", inputs, signal);
  }
}

async function proveRange(core: WalletCore, checked: CheckedPayment, scalar: bigint, signal?: AbortSignal) {
  const { address, amount, lowerBound, upperBound } = checked;
  const range = prepareRange({ recipient: address, amount, scalar, lowerBound, upperBound });
  const proof = await core.prove("elgamal_range", range, signal);
  return { proof, publicSignals: range.publicSignals.map(String) };
}
