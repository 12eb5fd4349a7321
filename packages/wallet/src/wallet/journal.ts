import type { PaymentCall, WireBundle, WithdrawalCall } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { Store, StoreValue } from "../store/store.ts";

/** One attempt to spend notes: a proof that could settle until `validUntil`. */
export interface Attempt {
  /** Seconds since the Unix epoch. */
  validUntil: number;
  /** keccak256 of its public signals, by which it is found on chain. */
  digest: string;
  /** Whether its proof was made. After that, others may know the nullifiers, even if it never settles. */
  proved?: true;
  /** When it was made, milliseconds; undefined if an older version wrote it. */
  timestamp?: number | undefined;
}

/**
 * An attempt at a payment. With the seed and the event, it reproduces all signals for a receipt, even after the proof
 * was deleted.
 */
export interface PaymentAttempt extends Attempt {
  /** Milliseconds since the Unix epoch, bound by the proof. */
  timestamp: number;
  /** The tree root of its proof, decimal. */
  root: string;
}

interface SpendRecord {
  id: string;
  /** Milliseconds. */
  created: number;
  /** Leaf indices of the spent notes. */
  notes: number[];
  /** Their nullifiers, decimal. The first always belongs to a real note. */
  nullifiers: string[];
  attempts: Attempt[];
}

/** A payment, journaled before its proof is made. Amounts are decimal base units. */
export interface PaymentRecord extends SpendRecord {
  kind: "payment";
  attempts: PaymentAttempt[];
  recipient: { wallet: string; shieldedAddress: string };
  /** Base URL of the service that its proof is for; null if the caller named none. */
  service: string | null;
  amount: string;
  lowerBound: string;
  upperBound: string;
  resourceUrl: string;
  /** When the recipient's address ends, ms; null if it does not, absent in records of earlier versions. */
  before?: number | null;
  /** The proof of the newest attempt; null until it is made. */
  proof: { bundle: WireBundle; settle: PaymentCall } | null;
}

/** A withdrawal or a merge. */
export interface WithdrawalRecord extends SpendRecord {
  kind: "withdrawal";
  recipient: string;
  /** Base units that leave the pool, including the fee. */
  amount: string;
  fee: string;
  feeRecipient: string;
  /** Whether it withdraws the notes completely and leaves no change note. */
  leaveNothing: boolean;
  /**
   * Set by `cashOut`: whether a call has returned its outcome. Until a call has done so, an equal call resumes the
   * withdrawal. Undefined if the caller submits it.
   */
  returned?: boolean | undefined;
  proof: { withdraw: WithdrawalCall } | null;
}

export type JournalRecord = PaymentRecord | WithdrawalRecord;

/** A deposit that was started. The chain shows whether it arrived. */
export interface DepositRecord {
  /** Index of its owner tag. */
  keyIndex: number;
  amounts: string[];
  /** Milliseconds. */
  created: number;
}

/** The last deadline: the last second in which any attempt at a spend can settle. */
export function lastDeadline({ attempts }: JournalRecord): number {
  return Math.max(0, ...attempts.map(({ validUntil }) => validUntil));
}

const spendKey = (id: string): string => `spend/${id}`;
const depositKey = (index: number): string => `deposit/${String(index).padStart(10, "0")}`;

/**
 * The operations that a wallet began, written before it acts. Recovering funds does not need the journal. Whether a
 * note is held is derived from the spends and the chain (see state.ts) and never stored, so it cannot be wrong after a
 * crash or a reorganization.
 */
export class Journal {
  readonly spends = new Map<string, JournalRecord>();
  readonly deposits = new Map<number, DepositRecord>();
  /** Ids of all spends of a note, by nullifier (decimal). */
  readonly #spending = new Map<string, Set<string>>();
  /** Ids of the spends whose proof was made, by nullifier (decimal). */
  readonly #shown = new Map<string, Set<string>>();
  /** Ids of the spends whose proof is stored. */
  readonly #proved = new Set<string>();
  readonly #store: Store;

  private constructor(store: Store) {
    this.#store = store;
  }

  static async open(store: Store): Promise<Journal> {
    const journal = new Journal(store);
    for (const { value } of await store.list("spend/")) journal.#take(value as unknown as JournalRecord);
    for (const { value } of await store.list("deposit/")) {
      const record = value as unknown as DepositRecord;
      journal.deposits.set(record.keyIndex, record);
    }
    return journal;
  }

  /** The spend with this id. @throws WalletError UNKNOWN_PAYMENT */
  get(id: string): JournalRecord {
    const record = this.spends.get(id);
    if (record === undefined)
      throw new WalletError("UNKNOWN_PAYMENT", `this wallet has no payment ${JSON.stringify(id)}`);
    return record;
  }

  /** Writes a new spend, or a new attempt of one. Call it before making the proof. */
  async begin(record: JournalRecord): Promise<void> {
    await this.#rewrite(record);
  }

  /**
   * Records the proof of an attempt before it leaves the process, so that it can be sent again after a crash. The proof
   * of an attempt that is not the newest is not stored.
   */
  async prove<R extends JournalRecord>({ id }: R, digest: string, proof: NonNullable<R["proof"]>): Promise<void> {
    const record = this.get(id);
    const attempts = record.attempts.map((each) => (each.digest === digest ? { ...each, proved: true } : each));
    const newest = record.attempts.at(-1)?.digest === digest;
    await this.#rewrite({ ...record, attempts, proof: newest ? proof : record.proof } as JournalRecord);
  }

  /** All spends of the note with this nullifier (decimal), in any state. */
  spendsOf(nullifier: string): JournalRecord[] {
    return [...(this.#spending.get(nullifier) ?? [])].map((id) => this.get(id));
  }

  /** The spends that may have shown this nullifier (decimal) to others, in any state. */
  shownBy(nullifier: string): JournalRecord[] {
    return [...(this.#shown.get(nullifier) ?? [])].map((id) => this.get(id));
  }

  /**
   * Deletes the proofs of finished spends: otherwise, a wallet that pays for each request would accumulate gigabytes.
   */
  async dropProofs(over: (record: JournalRecord) => boolean): Promise<void> {
    for (const record of [...this.#proved].map((id) => this.get(id)))
      if (over(record)) await this.#rewrite({ ...record, proof: null });
  }

  /** Records that a call of `cashOut` has returned the outcome of this withdrawal. */
  async returned(id: string): Promise<void> {
    const record = this.get(id);
    if (record.kind === "withdrawal" && record.returned === false) await this.#rewrite({ ...record, returned: true });
  }

  /** Deletes a spend whose proof never left this process. Its notes are then held by the remaining spends only. */
  async discard(id: string): Promise<void> {
    const record = this.get(id);
    await this.#store.delete(spendKey(id));
    this.spends.delete(id);
    this.#proved.delete(id);
    for (const nullifier of record.nullifiers) {
      this.#spending.get(nullifier)?.delete(id);
      this.#shown.get(nullifier)?.delete(id);
    }
  }

  async #rewrite(record: JournalRecord): Promise<void> {
    await this.#store.put(spendKey(record.id), toValue(record));
    this.#take(record);
  }

  #take(record: JournalRecord): void {
    this.spends.set(record.id, record);
    if (record.proof === null) this.#proved.delete(record.id);
    else this.#proved.add(record.id);
    const proved = record.attempts.some((attempt) => attempt.proved);
    for (const nullifier of record.nullifiers) {
      if (proved) this.#shown.set(nullifier, (this.#shown.get(nullifier) ?? new Set()).add(record.id));
      this.#spending.set(nullifier, (this.#spending.get(nullifier) ?? new Set()).add(record.id));
    }
  }

  async beginDeposit(record: DepositRecord): Promise<void> {
    await this.#store.put(depositKey(record.keyIndex), toValue(record));
    this.deposits.set(record.keyIndex, record);
  }
}

/** The records are JSON values, but their interfaces lack the index signature of StoreValue. */
function toValue(record: JournalRecord | DepositRecord): StoreValue {
  return record as unknown as StoreValue;
}
