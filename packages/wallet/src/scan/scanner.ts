import type { DepositedEvent, PoolEvent, SettledEvent, WithdrawnEvent } from "@sotto/chain";
import {
  type DeliveredChange,
  type Deployment,
  decryptChange,
  depositBlinding,
  type Note,
  noteCommitment,
  nullifier as nullifierOf,
  scanNotes,
  type Viewer,
  type WalletKeys,
  withdrawalContext,
  withdrawalPadContext,
} from "@sotto/protocol";
import { type Findings, type FoundNote, type FoundSpend, mapShown, type NoteOrigin } from "./notes.ts";

/** Gap limit: number of owner tags searched beyond the highest one found. A wallet never uses an index beyond it. */
export const DEPOSIT_GAP = 100;

/** Number of payments that are decrypted together and share inversions. */
const BATCH = 256;

/** The keys of a scan. Without `keys` it finds only incoming payments to the shielded address. */
export interface ScanKeys {
  /** Reads received payments: odd, in [1, l). */
  viewingKey: bigint;
  /** Tag 0, which belongs to the shielded address. */
  ownerTag: bigint;
  /** Keys of a wallet that can spend. Default: none, for a viewing wallet. */
  keys?: WalletKeys;
}

/**
 * Finds a wallet's notes and spends in the pool's events. It takes events in chain order from any source, makes no
 * requests and writes nothing. After a restart, `recall` restores the notes that it found before.
 */
export class NoteScanner {
  readonly #scan: ScanKeys;
  readonly #deployment: Deployment;
  /** Indices of the wallet's owner tags, by tag. Only deposits have other tags than tag 0. */
  readonly #tags = new Map<bigint, number>();
  #highestTag = 0;
  /** Unspent and spent notes of the wallet, by nullifier. */
  readonly #byNullifier = new Map<bigint, FoundNote>();

  constructor(keys: ScanKeys, deployment: Deployment) {
    this.#scan = keys;
    this.#deployment = deployment;
    this.#tags.set(keys.ownerTag, 0);
  }

  /** The keys with which received notes are decrypted. */
  get viewer(): Viewer {
    return this.#scan;
  }

  /**
   * Returns the effects of these events on the wallet, in chain order.
   * @param received the note that each settled event delivers to `viewer`, or null, if they were decrypted before
   */
  scan(events: Iterable<PoolEvent>, received?: readonly (Note | null)[]): Findings {
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
    // Decryption with the viewing key does not depend on earlier results, and is much cheaper in batches.
    const settled = events.filter((event) => event.type === "settled");
    this.#take(events, scanNotes(this.#scan, settled), findings);
  }

  #take(events: Iterable<PoolEvent>, received: readonly (Note | null)[], findings: Findings): void {
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

  #scanPayment(event: SettledEvent, received: Note | null, findings: Findings): void {
    const { leafIndex, nullifier } = event;
    if (received !== null)
      this.#found(event, { ...received, leafIndex }, event.recipientCommitment, "payment", findings);
    if (!this.#spend(event, nullifier, "payment", findings)) return;
    this.#ownOutput(event, leafIndex + 1, { ...event, unique: event.ephemeralX }, "change", findings);
  }

  #scanWithdrawal(event: WithdrawnEvent, findings: Findings): void {
    const spent = event.nullifiers.filter((nullifier) => this.#spend(event, nullifier, "withdrawal", findings));
    const first = event.nullifiers[0];
    if (first === undefined || spent.length === 0 || event.commitment === 0n) return;
    const context = withdrawalContext({ ...this.#deployment, ...event });
    const unique = withdrawalPadContext(context, event.amount, event.nullifiers);
    const delivered = { nullifier: first, unique, changeHint: event.changeHint, changeCommitment: event.commitment };
    this.#ownOutput(event, event.leafIndex, delivered, "output", findings);
  }

  /** The note that this wallet made for itself: change of a payment, or the output of a merge or withdrawal. */
  #ownOutput(event: PoolEvent, leafIndex: number, delivered: DeliveredChange, origin: NoteOrigin, findings: Findings) {
    const { keys, ownerTag } = this.#scan;
    const note = keys && decryptChange({ changeKey: keys.changeKey, ownerTag }, delivered);
    if (note) this.#found(event, { ...note, leafIndex }, delivered.changeCommitment, origin, findings);
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

  #found(event: PoolEvent, own: Note & { leafIndex: number }, commitment: bigint, origin: NoteOrigin, all: Findings) {
    const { blockNumber, timestamp, transactionHash, logIndex } = event;
    const { amount, blinding, leafIndex } = own;
    // A note of amount 0 (the change of a completely spent note) is not spendable.
    if (amount === 0n) return;
    const keyIndex = this.#tags.get(own.ownerTag) ?? 0;
    const { keys } = this.#scan;
    const nullifier = keys && nullifierOf(keys.spendingKey(keyIndex), commitment, leafIndex);
    const place = { blockNumber, timestamp, transactionHash, logIndex };
    const note: FoundNote = { leafIndex, amount, keyIndex, blinding, commitment, nullifier, origin, ...place };
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
