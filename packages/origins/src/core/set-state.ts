// The rules of a set: which notes are in it follows from the pool's events, the log's entries and the heads, and from nothing else.
import type { AppendedEvent, DepositedEvent, SettledEvent, WithdrawnEvent } from "@sotto/chain";
import type { PermuteMany } from "@sotto/protocol";
import type { OriginClaim } from "./claim.ts";
import type { LogEntry } from "./log.ts";
import { type LeafAt, MaskTree } from "./mask-tree.ts";
import { nullifiersOf } from "./nullifiers.ts";
import { RootHistory } from "./root-history.ts";

/** What a set needs of the pool's events. */
export type SetEvent =
  | Pick<DepositedEvent, "type" | "leafIndex" | "blockNumber">
  | Pick<SettledEvent, "type" | "nullifier" | "leafIndex" | "timestamp" | "blockNumber">
  | Pick<WithdrawnEvent, "type" | "nullifiers" | "commitment" | "leafIndex" | "timestamp" | "blockNumber">
  | Pick<AppendedEvent, "type" | "blockNumber">;

/** An event that spent notes, and the notes that it made. */
interface Spend {
  readonly nullifiers: readonly bigint[];
  readonly outputs: readonly number[];
  /** Time of its block, Unix seconds. */
  readonly time: number;
  readonly blockNumber: number;
}

/** Why an entry is not allowed now. */
export type EntryProblem =
  /** No deposit has this leaf. */
  | "NOT_A_DEPOSIT"
  /** The judgement of this leaf is the same already. */
  | "SAME_JUDGEMENT"
  /** The nullifier has a claim. */
  | "CLAIMED"
  /** No head has the claim's root. */
  | "ROOT_UNKNOWN";

/**
 * A set while its curator's log grows, or while somebody replays it. A deposit is in the set while its last judgement accepts it.
 * The outputs of a payment, withdrawal or merge join once every nullifier of it has a claim whose root was good at the time of its
 * block, and stay as long as its block does.
 */
export class SetState {
  readonly mask: MaskTree;
  readonly roots = new RootHistory();
  /** Block number of each deposit, by leaf. */
  readonly #deposits = new Map<number, number>();
  readonly #accepted = new Map<number, boolean>();
  /** Roots of claims, by nullifier. */
  readonly #claims = new Map<bigint, bigint>();
  #spends: Spend[] = [];
  /** The spend that shows a nullifier. */
  readonly #spendOf = new Map<bigint, Spend>();
  /** The leaves in the order of the chain: the first leaf of each event, with its block. */
  #leaves: { readonly first: number; readonly blockNumber: number }[] = [];

  /** @param permutation see `MaskTree` */
  constructor(leafAt: LeafAt, permutation?: PermuteMany) {
    this.mask = new MaskTree(leafAt, permutation);
  }

  /** Whether the last judgement of a leaf accepts it; undefined if there is none, or the leaf is not a deposit's. */
  judgement(leaf: number): boolean | undefined {
    return this.#accepted.get(leaf);
  }

  /** Whether a deposit of the chain has this leaf. */
  isDeposit(leaf: number): boolean {
    return this.#deposits.has(leaf);
  }

  /** The root of a nullifier's claim. */
  claimedRoot(nullifier: bigint): bigint | undefined {
    return this.#claims.get(nullifier);
  }

  /** Number of claims in the log. */
  get claims(): number {
    return this.#claims.size;
  }

  /** Whether an event of the chain shows this nullifier. */
  isSpent(nullifier: bigint): boolean {
    return this.#spendOf.has(nullifier);
  }

  /** Adds the pool's events in the order of the chain. Their times must be those of their blocks. */
  addEvents(events: readonly SetEvent[]): void {
    for (const event of events) {
      const { blockNumber } = event;
      if (event.type === "appended") continue;
      if (event.type === "deposited") {
        this.#deposits.set(event.leafIndex, blockNumber);
        this.#leaves.push({ first: event.leafIndex, blockNumber });
        continue;
      }
      const made = event.type === "settled" ? 2 : event.commitment === 0n ? 0 : 1;
      const outputs = Array.from({ length: made }, (_, i) => event.leafIndex + i);
      const nullifiers = nullifiersOf(event);
      const spend = { nullifiers, outputs, time: event.timestamp, blockNumber };
      this.#spends.push(spend);
      if (made > 0) this.#leaves.push({ first: event.leafIndex, blockNumber });
      for (const nullifier of nullifiers) this.#spendOf.set(nullifier, spend);
      this.#inherit(spend);
    }
  }

  /**
   * Forgets the events after a block, because the chain was reorganized. Judgements of their deposits still count until the entry
   * "reorg"; claims stay, because a nullifier names one note in every chain.
   * @returns the first leaf that is gone; undefined if none is
   */
  rollBack(to: number): number | undefined {
    const gone = this.#leaves.find(({ blockNumber }) => blockNumber > to)?.first;
    this.#leaves = this.#leaves.filter(({ blockNumber }) => blockNumber <= to);
    for (const [leaf, blockNumber] of this.#deposits) if (blockNumber > to) this.#deposits.delete(leaf);
    for (const { nullifiers, blockNumber } of this.#spends)
      if (blockNumber > to) for (const nullifier of nullifiers) this.#spendOf.delete(nullifier);
    this.#spends = this.#spends.filter(({ blockNumber }) => blockNumber <= to);
    if (gone !== undefined) this.mask.truncate(gone);
    return gone;
  }

  /** Why an entry is not allowed now; undefined if it is. A claim's proof must be checked apart. */
  problemOf(entry: LogEntry): EntryProblem | undefined {
    if (entry.type === "reorg") return undefined;
    if (entry.type === "claim") {
      if (this.#claims.has(entry.claim.nullifier)) return "CLAIMED";
      return this.roots.has(entry.claim.maskRoot) ? undefined : "ROOT_UNKNOWN";
    }
    if (!this.#deposits.has(entry.leaf)) return "NOT_A_DEPOSIT";
    return this.#accepted.get(entry.leaf) === (entry.type === "accept") ? "SAME_JUDGEMENT" : undefined;
  }

  /** Applies an entry that is allowed. */
  apply(entry: LogEntry): void {
    if (entry.type === "claim") this.#claim(entry.claim);
    else if (entry.type === "reorg") {
      this.roots.forget(entry.leaf);
      for (const leaf of this.#accepted.keys()) {
        if (leaf < entry.leaf) continue;
        this.#accepted.delete(leaf);
        this.mask.set(leaf, false);
      }
      // The leaf of a deposit that is gone may be a payment's output now.
      for (const spend of this.#spends) if (spend.outputs.some((leaf) => leaf >= entry.leaf)) this.#inherit(spend);
    } else {
      this.#accepted.set(entry.leaf, entry.type === "accept");
      this.mask.set(entry.leaf, entry.type === "accept");
    }
  }

  #claim({ nullifier, maskRoot }: OriginClaim): void {
    this.#claims.set(nullifier, maskRoot);
    const spend = this.#spendOf.get(nullifier);
    if (spend !== undefined) this.#inherit(spend);
  }

  #inherit({ nullifiers, outputs, time }: Spend): void {
    const shown = nullifiers.every((nullifier) => {
      const root = this.#claims.get(nullifier);
      return root !== undefined && this.roots.accepts(root, time);
    });
    if (shown) for (const output of outputs) this.mask.set(output, true);
  }
}
