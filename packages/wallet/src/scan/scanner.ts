import type { DepositedEvent, PoolEvent, SettledEvent, WithdrawnEvent } from "@sotto/chain";
import {
  type DeliveredChange,
  type Deployment,
  decryptChange,
  depositBlinding,
  type Month,
  type Note,
  noteCommitment,
  nullifier as nullifierOf,
  scanNotes,
  withdrawalContext,
  withdrawalPadContext,
} from "@sotto/protocol";
import { type Findings, type FoundNote, type FoundSpend, mapShown, type NoteOrigin } from "./notes.ts";
import { type OwnNote, type PaymentGroup, paymentGroup } from "./payment-group.ts";
import type { BlockKeys, LateKeys, ScanKeys } from "./scan-keys.ts";

/** Gap limit: number of owner tags searched beyond the highest one found. A wallet never uses an index beyond it. */
export const DEPOSIT_GAP = 100;

/** Number of payments that are decrypted together and share inversions. */
const BATCH = 256;

/**
 * Finds a wallet's notes and spends in the pool's events. It takes events in chain order from any source, makes no
 * requests and writes nothing. After a restart, `recall` restores the notes that it found before.
 */
export class NoteScanner {
  readonly #scan: ScanKeys;
  readonly #deployment: Deployment;
  readonly #late: LateKeys;
  /** Indices of the wallet's owner tags, by tag. Only deposits have other tags than tag 0. */
  readonly #tags = new Map<bigint, number>();
  #highestTag = 0;
  /** Unspent and spent notes of the wallet, by nullifier. */
  readonly #byNullifier = new Map<bigint, FoundNote>();

  /** @param late the keys, by leaf index, of payments that `search` found and the keys of their blocks do not open */
  constructor(keys: ScanKeys, deployment: Deployment, late: LateKeys = new Map()) {
    this.#scan = keys;
    this.#deployment = deployment;
    this.#late = late;
    this.#tags.set(keys.ownerTag, 0);
  }

  /** Groups payments, in chain order, by the keys with which they are tried. */
  groups(payments: readonly SettledEvent[]): PaymentGroup[] {
    const groups: { viewing: BlockKeys["viewing"]; payments: SettledEvent[] }[] = [];
    for (const payment of payments) {
      const { viewing } = this.#scan.at(payment.timestamp);
      const last = groups.at(-1);
      if (last?.viewing === viewing) last.payments.push(payment);
      else groups.push({ viewing, payments: [payment] });
      const late = this.#late.get(payment.leafIndex);
      // The payments after it begin a group of their own.
      if (late !== undefined) groups.at(-1)!.viewing = [...groups.at(-1)!.viewing, late];
    }
    return groups.map((group) => paymentGroup(this.#scan.ownerTag, group.viewing, group.payments));
  }

  /**
   * Returns the effects of these events on the wallet, in chain order.
   * @param received the wallet's note that each settled event delivers, or null, if they were decrypted before
   */
  scan(events: Iterable<PoolEvent>, received?: readonly (OwnNote | null)[]): Findings {
    const findings: Findings = { notes: [], spends: [] };
    if (received !== undefined) {
      this.#take(events, received, findings);
      return findings;
    }
    let batch: PoolEvent[] = [];
    for (const event of events) {
      batch.push(event);
      if (batch.length < BATCH) continue;
      this.#scanBatch(batch, findings);
      batch = [];
    }
    this.#scanBatch(batch, findings);
    return findings;
  }

  #scanBatch(events: readonly PoolEvent[], findings: Findings): void {
    // Decryption with viewing keys does not depend on earlier results, and is much cheaper in batches.
    const groups = this.groups(events.filter((event) => event.type === "settled"));
    const received = groups.flatMap(({ viewer, payments, own }) => own(scanNotes(viewer, payments)));
    this.#take(events, received, findings);
  }

  #take(events: Iterable<PoolEvent>, received: readonly (OwnNote | null)[], findings: Findings): void {
    const notes = received.values();
    for (const event of events) {
      if (event.type === "deposited") this.#scanDeposit(event, findings);
      else if (event.type === "settled") this.#scanPayment(event, notes.next().value ?? null, findings);
      else if (event.type === "withdrawn") this.#scanWithdrawal(event, findings);
    }
  }

  /** Restores a note that was found before. */
  recall(note: FoundNote): void {
    if (note.nullifier !== undefined) this.#byNullifier.set(note.nullifier, note);
    this.#highestTag = Math.max(this.#highestTag, note.keyIndex);
  }

  #scanDeposit(event: DepositedEvent, findings: Findings): void {
    const { ownerTag, amount, leafIndex, commitment } = event;
    this.#openTags();
    if (!this.#tags.has(ownerTag)) return;
    const note = { amount, ownerTag, blinding: depositBlinding(this.#deployment, leafIndex), leafIndex };
    // The contract computes the commitment. A node that changes it is detected here, not by a failing proof.
    if (noteCommitment(note) === commitment) this.#found(event, note, commitment, "deposit", findings);
  }

  #scanPayment(event: SettledEvent, received: OwnNote | null, findings: Findings): void {
    const { leafIndex, nullifier } = event;
    if (received !== null)
      this.#found(event, { ...received, leafIndex }, event.recipientCommitment, "payment", findings);
    const isSpend = this.#spend(event, nullifier, "payment", findings);
    if (isSpend || this.#isViewing)
      this.#ownOutput(event, leafIndex + 1, { ...event, unique: event.ephemeralX }, "change", findings);
  }

  #scanWithdrawal(event: WithdrawnEvent, findings: Findings): void {
    const spent = event.nullifiers.filter((nullifier) => this.#spend(event, nullifier, "withdrawal", findings));
    const first = event.nullifiers[0];
    if (first === undefined || event.commitment === 0n) return;
    if (spent.length === 0 && (!this.#isViewing || this.#scan.at(event.timestamp).change.length === 0)) return;
    const context = withdrawalContext({ ...this.#deployment, ...event });
    const unique = withdrawalPadContext(context, event.amount, event.nullifiers);
    const delivered = { nullifier: first, unique, changeHint: event.changeHint, changeCommitment: event.commitment };
    this.#ownOutput(event, event.leafIndex, delivered, "output", findings);
  }

  /** Without the keys that spend, every event is tried with the change keys, if there are any. */
  get #isViewing(): boolean {
    return this.#scan.keys === undefined;
  }

  /** The note that this wallet made for itself: change of a payment, or the output of a merge or withdrawal. */
  #ownOutput(event: PoolEvent, leafIndex: number, delivered: DeliveredChange, origin: NoteOrigin, findings: Findings) {
    const { ownerTag } = this.#scan;
    for (const { month, key: changeKey } of this.#scan.at(event.timestamp).change) {
      const note = decryptChange({ changeKey, ownerTag }, delivered);
      if (note === null) continue;
      this.#found(event, { ...note, month, leafIndex }, delivered.changeCommitment, origin, findings);
      return;
    }
  }

  /** Whether the nullifier belongs to a note of this wallet. */
  #spend(event: SettledEvent | WithdrawnEvent, nullifier: bigint, by: FoundSpend["by"], findings: Findings): boolean {
    const note = this.#byNullifier.get(nullifier);
    if (note === undefined) return false;
    const { digest, blockNumber, timestamp, transactionHash } = event;
    const place = { blockNumber, timestamp, transactionHash };
    const shown = event.type === "settled" ? mapShown(event, (word) => word) : undefined;
    findings.spends.push({ leafIndex: note.leafIndex, nullifier, digest, by, ...place, shown });
    return true;
  }

  #found(
    event: PoolEvent,
    own: Note & { leafIndex: number; month?: Month | undefined },
    commitment: bigint,
    origin: NoteOrigin,
    all: Findings,
  ) {
    const { blockNumber, timestamp, transactionHash, logIndex } = event;
    const { amount, blinding, leafIndex, month } = own;
    // A note of amount 0 is not spendable. To an auditor, change of 0 shows that a note was spent completely.
    if (amount === 0n && (!this.#isViewing || origin === "payment")) return;
    const keyIndex = this.#tags.get(own.ownerTag) ?? 0;
    const { keys } = this.#scan;
    const nullifier = keys && nullifierOf(keys.spendingKey(keyIndex), commitment, leafIndex);
    const place = { blockNumber, timestamp, transactionHash, logIndex };
    const found = { leafIndex, amount, keyIndex, blinding, commitment, nullifier, origin, ...place };
    const note: FoundNote = month === undefined ? found : { ...found, month };
    this.recall(note);
    all.notes.push(note);
  }

  /**
   * Derives the tags up to the gap limit after the highest one found. Opening a wallet does not need them: deriving a
   * hundred tags takes as long as everything else that a wallet computes when it opens.
   */
  #openTags(): void {
    const { keys } = this.#scan;
    if (keys === undefined) return;
    for (let index = this.#tags.size; index <= this.#highestTag + DEPOSIT_GAP; index += 1)
      this.#tags.set(keys.ownerTag(index), index);
  }
}
