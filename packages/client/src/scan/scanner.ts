import {
  type DeliveredChange,
  type Deployment,
  depositBlinding,
  type Note,
  noteCommitment,
  nullifier as nullifierOf,
  readChange,
  tryDecrypt,
  type WalletKeys,
  withdrawalContext,
} from "@sotto/protocol";
import type { DepositedEvent, PoolEvent, SettledEvent, WithdrawnEvent } from "../chain/events.ts";
import type { Findings, FoundNote, FoundSpend, NoteOrigin } from "./notes.ts";

/** Owner tags a wallet looks for beyond the highest one seen: a wallet never opens an index beyond it. */
export const DEPOSIT_GAP = 100;

/** What a scan needs to know. Without `keys` it reads what came in to the shielded address and nothing else. */
export interface ScanKeys {
  viewingKey: bigint;
  /** Tag 0: of the shielded address. */
  ownerTag: bigint;
  keys?: WalletKeys;
}

/**
 * Finds a wallet's notes and spends in the pool's events. Takes events in the order of the chain, from any source; asks
 * no questions and writes nothing. What it has found it must be told again (`recall`) when it starts anew.
 */
export class NoteScanner {
  readonly #scan: ScanKeys;
  readonly #deployment: Deployment;
  /** The wallet's owner tags looked for, by tag. */
  readonly #tags = new Map<bigint, number>();
  #highestTag = 0;
  /** Unspent and spent notes of the wallet, by nullifier. */
  readonly #byNullifier = new Map<bigint, FoundNote>();

  constructor(keys: ScanKeys, deployment: Deployment) {
    this.#scan = keys;
    this.#deployment = deployment;
    this.#tags.set(keys.ownerTag, 0);
    this.#openTags();
  }

  /** Highest index of an owner tag seen in a deposit. */
  get highestTag(): number {
    return this.#highestTag;
  }

  /** What `event` means to the wallet; undefined: nothing. */
  scan(event: PoolEvent): Findings | undefined {
    switch (event.type) {
      case "deposited":
        return this.#scanDeposit(event);
      case "settled":
        return this.#scanPayment(event);
      case "withdrawn":
        return this.#scanWithdrawal(event);
      case "appended":
        return undefined;
    }
  }

  /** Takes a note found before. */
  recall(note: FoundNote): void {
    if (note.nullifier !== undefined) this.#byNullifier.set(note.nullifier, note);
    if (note.keyIndex > this.#highestTag) {
      this.#highestTag = note.keyIndex;
      this.#openTags();
    }
  }

  #scanDeposit(event: DepositedEvent): Findings | undefined {
    const { ownerTag, amount, leafIndex, commitment } = event;
    if (!this.#tags.has(ownerTag)) return undefined;
    const note = { amount, ownerTag, blinding: depositBlinding(this.#deployment, leafIndex), leafIndex };
    // The contract computes the commitment; a node that lies about it is caught here rather than by a failing proof.
    if (noteCommitment(note) !== commitment) return undefined;
    return { notes: [this.#found(event, note, commitment, "deposit")], spends: [] };
  }

  #scanPayment(event: SettledEvent): Findings | undefined {
    const findings: Findings = { notes: [], spends: [] };
    const { leafIndex, nullifier } = event;
    const received = tryDecrypt(this.#scan, event);
    if (received !== null && received.amount > 0n)
      findings.notes.push(this.#found(event, { ...received, leafIndex }, event.recipientCommitment, "payment"));
    this.#spend(event, nullifier, "payment", findings);
    if (findings.spends.length > 0) {
      const delivered = { ...event, unique: event.encryptedAmountR };
      this.#ownOutput(event, leafIndex + 1, delivered, "change", findings);
    }
    return findings.notes.length + findings.spends.length > 0 ? findings : undefined;
  }

  #scanWithdrawal(event: WithdrawnEvent): Findings | undefined {
    const findings: Findings = { notes: [], spends: [] };
    for (const nullifier of event.nullifiers) this.#spend(event, nullifier, "withdrawal", findings);
    const first = event.nullifiers[0];
    if (first === undefined || findings.spends.length === 0) return undefined;
    const unique = withdrawalContext({ ...this.#deployment, ...event });
    const delivered = { nullifier: first, unique, changeHint: event.changeHint, changeCommitment: event.commitment };
    this.#ownOutput(event, event.leafIndex, delivered, "output", findings);
    return findings;
  }

  /** The note this wallet made for itself out of a note of its own: change, or what was merged. */
  #ownOutput(event: PoolEvent, leafIndex: number, delivered: DeliveredChange, origin: NoteOrigin, findings: Findings) {
    const { keys, ownerTag } = this.#scan;
    const note = keys && readChange({ changeKey: keys.changeKey, ownerTag }, delivered);
    if (note && note.amount > 0n)
      findings.notes.push(this.#found(event, { ...note, leafIndex }, delivered.changeCommitment, origin));
  }

  #spend(event: SettledEvent | WithdrawnEvent, nullifier: bigint, by: FoundSpend["by"], findings: Findings): void {
    const note = this.#byNullifier.get(nullifier);
    if (note === undefined) return;
    const { digest, blockNumber, transactionHash } = event;
    findings.spends.push({ leafIndex: note.leafIndex, nullifier, digest, by, blockNumber, transactionHash });
  }

  #found(event: PoolEvent, own: Note & { leafIndex: number }, commitment: bigint, origin: NoteOrigin): FoundNote {
    const { blockNumber, transactionHash, logIndex } = event;
    const { amount, blinding, leafIndex } = own;
    const keyIndex = this.#tags.get(own.ownerTag) ?? 0;
    const { keys } = this.#scan;
    const nullifier = keys && nullifierOf(keys.spendingKey(keyIndex), commitment, leafIndex);
    const place = { blockNumber, transactionHash, logIndex };
    const note: FoundNote = { leafIndex, amount, keyIndex, blinding, commitment, nullifier, origin, ...place };
    this.recall(note);
    return note;
  }

  /** Keeps the tags up to the gap behind the highest one seen ready for comparison. */
  #openTags(): void {
    const { keys } = this.#scan;
    if (keys === undefined) return;
    for (let index = this.#tags.size; index <= this.#highestTag + DEPOSIT_GAP; index += 1)
      this.#tags.set(keys.ownerTag(index), index);
  }
}
