import type { PaymentCall } from "@sotto/protocol";
import { type PreparedPayment, preparePayment, prepareRange, type WireBundle } from "@sotto/protocol";
import { hexlify, randomBytes } from "ethers";
import { WalletError } from "../errors.ts";
import type { FoundNote } from "../scan/notes.ts";
import type { ScanOptions, WalletCore } from "./core.ts";
import type { PaymentRecord } from "./journal.ts";
import { type CheckedPayment, checkPayment, type PaymentRequest } from "./payment-request.ts";
import { reusableNotes } from "./reuse.ts";
import { type Funds, selectPaymentCoin } from "./select.ts";
import { isUnseen, wasWithdrawn } from "./shown.ts";
import type { WalletNote } from "./state.ts";

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

/** Maximum seconds that the chain may be ahead of the clock, so that a proof stays valid for at least two minutes. */
const CLOCK_LEAD = 60;

/** The fee of a merge; only for `payMerging`. */
interface Choice extends ScanOptions {
  mergeFee?: bigint;
}

/**
 * Makes a payment: selects a note, journals the attempt and proves it. Nothing is sent. The note is held until the
 * payment settles or can no longer settle.
 * @throws WalletError MERGE_REQUIRED. With `mergeFee`, also if every sufficient note was shown to others and one of
 *   them can be merged into an unknown note (details.shown is its leaf index)
 */
export async function pay(core: WalletCore, request: PaymentRequest, options: Choice = {}): Promise<Payment> {
  const checked = checkPayment(request);
  core.prover();
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const { id = hexlify(randomBytes(16)).slice(2) } = request;
    if (core.journal.spends.has(id)) throw new WalletError("INVALID_OPTION", `a payment with id ${id} already exists`);
    const note = choose(core, request, checked, options.mergeFee);
    const { recipient, service, resourceUrl } = checked;
    const record: PaymentRecord = {
      kind: "payment",
      id,
      created: core.now(CLOCK_LEAD),
      notes: [note.leafIndex],
      nullifiers: [String(note.nullifier)],
      attempts: [],
      recipient,
      service,
      amount: String(checked.amount),
      lowerBound: String(checked.lowerBound),
      upperBound: String(checked.upperBound),
      resourceUrl,
      proof: null,
    };
    return begin(core, record, checked, note);
  });
  return finish(core, begun, options.signal);
}

/**
 * Makes another attempt at a payment from the same note, with fresh randomness and a new deadline. At most one of all
 * attempts can settle, so it is safe at any time.
 * @throws WalletError PAYMENT_SETTLED, PAYMENT_CLOSED, UNKNOWN_PAYMENT
 */
export async function payAgain(core: WalletCore, id: string, options: ScanOptions = {}): Promise<Payment> {
  const known = core.journal.get(id);
  if (known.kind !== "payment") throw new WalletError("UNKNOWN_PAYMENT", `${id} is a withdrawal, not a payment`);
  core.prover();
  const begun = await core.lock.run(async () => {
    await core.scan(options);
    const [note] = reusableNotes(core, known);
    const { recipient, resourceUrl } = known;
    const service = known.service ?? undefined;
    const [amount, lowerBound, upperBound] = [known.amount, known.lowerBound, known.upperBound].map(BigInt);
    const bounds = { lowerBound: lowerBound!, upperBound: upperBound! };
    return begin(core, known, checkPayment({ recipient, amount: amount!, resourceUrl, service, ...bounds }), note!);
  });
  return finish(core, begun, options.signal);
}

/** Selects the note to pay from, preferably one that was shown only to the same recipient and service. */
function choose(core: WalletCore, { note: asked }: PaymentRequest, checked: CheckedPayment, mergeFee?: bigint) {
  const { journal } = core;
  const audience = { shieldedAddress: checked.recipient.shieldedAddress, service: checked.service };
  const unseen = (note: FoundNote) => isUnseen(journal, note, audience);
  const note = selectPaymentCoin(only(core.funds(), asked), checked.amount, unseen);
  const mergeable = mergeFee !== undefined && note.amount >= checked.amount + mergeFee && !wasWithdrawn(journal, note);
  if (asked !== undefined || unseen(note) || !mergeable) return note;
  const { leafIndex } = note;
  throw new WalletError("MERGE_REQUIRED", `note ${leafIndex} was shown to others; merge it first`, {
    shown: leafIndex,
  });
}

/** The funds reduced to a single spendable note. */
function only(funds: Funds<WalletNote>, leafIndex: number | undefined): Funds<WalletNote> {
  if (leafIndex === undefined) return funds;
  return { ...funds, spendable: funds.spendable.filter((note) => note.leafIndex === leafIndex) };
}

interface Begun {
  record: PaymentRecord;
  prepared: PreparedPayment;
  checked: CheckedPayment;
  timestamp: number;
}

/** Journals an attempt before its proof is made, because an unjournaled proof could settle unnoticed. */
async function begin(core: WalletCore, known: PaymentRecord, checked: CheckedPayment, note: FoundNote): Promise<Begun> {
  const { keys, info } = core.options;
  const timestamp = core.now(CLOCK_LEAD);
  const prepared = preparePayment({
    chainId: info.chainId,
    pool: info.pool,
    tree: core.confirmedTree(),
    note: core.spendable(note),
    changeKey: keys.changeKey,
    nonceKey: keys.nonceKey,
    changeTag: keys.ownerTag(0),
    recipient: { ...checked.address, wallet: checked.recipient.wallet },
    amount: checked.amount,
    resourceUrl: checked.resourceUrl,
    timestamp,
  });
  const { validUntil, digest, input } = prepared;
  const attempt = { validUntil: Number(validUntil), digest, timestamp, root: String(input.root) };
  const record: PaymentRecord = { ...known, attempts: [...known.attempts, attempt], proof: null };
  await core.journal.begin(record);
  return { record, prepared, checked, timestamp };
}

async function finish(core: WalletCore, begun: Begun, signal?: AbortSignal): Promise<Payment> {
  const { record, prepared, checked, timestamp } = begun;
  const { scalar, encryptedAmount, senderCommitment, validUntil, resourceDigest, digest, nullifier } = prepared;
  const { address, amount, lowerBound, upperBound } = checked;
  const range = prepareRange({ recipient: address, amount, scalar, lowerBound, upperBound });
  const proof = await core.prove("payment", prepared, signal);
  const amountProof = await core.prove("elgamal_range", range, signal);
  const publicSignals = prepared.publicSignals.map(String);
  const bundle: WireBundle = {
    proof,
    publicSignals,
    encryptedAmount,
    amountProof,
    amountPublicSignals: range.publicSignals.map(String),
    senderCommitment: String(senderCommitment),
    recipientPublicKey: checked.recipient.wallet,
    resourceUrl: checked.resourceUrl,
    timestamp,
  };
  const settle: PaymentCall = { proof, signals: publicSignals, validUntil: String(validUntil), resourceDigest };
  await core.journal.prove(record, digest, { bundle, settle });
  return { id: record.id, bundle, settle, validUntil: Number(validUntil), nullifier: String(nullifier), digest };
}
