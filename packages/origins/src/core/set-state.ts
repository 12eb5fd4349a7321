// The rules of a set: which notes are in it follows from the chain, the log's entries and the heads, and from nothing else.
import type { AppendedEvent, DepositedEvent, SettledEvent, WithdrawnEvent } from "@sotto/chain";
import type { PermuteMany } from "@sotto/protocol";
import { fail } from "@sotto/protocol/extend";
import type { OriginClaim } from "./claim.ts";
import type { OriginHead } from "./head.ts";
import type { JudgementEntry, LogEntry } from "./log.ts";
import { type LeafAt, MaskTree } from "./mask-tree.ts";
import { nullifiersOf } from "./nullifiers.ts";
import { RootHistory } from "./root-history.ts";

/** What a set needs of the pool's events. */
export type SetEvent =
  | Pick<DepositedEvent, "type" | "leafIndex" | "transactionHash">
  | Pick<SettledEvent, "type" | "nullifier" | "leafIndex" | "timestamp">
  | Pick<WithdrawnEvent, "type" | "nullifiers" | "commitment" | "leafIndex" | "timestamp">
  | Pick<AppendedEvent, "type">;

/** An event that spent notes, and the notes that it made. */
interface Spend {
  readonly nullifiers: readonly bigint[];
  readonly outputs: readonly number[];
  /** Time of its block, Unix seconds. */
  readonly time: number;
}

/** Why a judgement would change nothing. */
export type JudgementProblem =
  /** The leaf is no deposit's, or its deposit was made in another transaction. */
  | "NOT_A_DEPOSIT"
  /** The last judgement is the same. */
  | "SAME_JUDGEMENT";

/** Why a claim would change nothing. */
export type ClaimProblem =
  /** No head on the chain has its root. */
  | "ROOT_UNKNOWN"
  /** No event of the chain shows the nullifier. */
  | "NOT_SETTLED"
  /** The nullifier has a claim that counts. */
  | "CLAIMED"
  /** The root was replaced more than an hour before the event. */
  | "ROOT_STALE";

/**
 * A set while its curator's log grows, or while somebody replays it. A deposit is in the set while its last judgement accepts it.
 * The outputs of a payment, withdrawal or merge join once every nullifier of it has a claim that counts.
 *
 * Between two heads, the order of events and entries does not matter. A reorganization is not undone: a new state replays the
 * chain, the log and the heads. Entries that do not count change nothing: they may be about notes that a reorganization removed.
 */
export class SetState {
  /** The leaves of the set. They include those that wait for their append to the pool's tree. */
  readonly mask: MaskTree;
  /** Roots of the heads on the chain, by the times of their blocks. */
  readonly #roots = new RootHistory();
  /** Transaction of each deposit, by leaf. */
  readonly #deposits = new Map<number, string>();
  /** The last judgement of each deposit, by leaf. */
  readonly #judgements = new Map<number, boolean>();
  /** Judgements of deposits that the chain does not have, by leaf and transaction. */
  readonly #early = new Map<string, boolean>();
  /** Roots of the claims that count or may count, by nullifier. */
  readonly #claims = new Map<bigint, readonly bigint[]>();
  /** The spend that shows a nullifier. */
  readonly #spends = new Map<bigint, Spend>();
  #claimEntries = 0;

  /** @param permutation see `MaskTree` */
  constructor(leafAt: LeafAt, permutation?: PermuteMany) {
    this.mask = new MaskTree(leafAt, permutation);
  }

  /** Whether the last judgement of a deposit accepts it; undefined if there is none, or the leaf is not a deposit's. */
  judgement(leaf: number): boolean | undefined {
    return this.#judgements.get(leaf);
  }

  /** Whether the leaf is a deposit's. */
  isDeposit(leaf: number): boolean {
    return this.#deposits.has(leaf);
  }

  /** Number of claims in the log. */
  get claims(): number {
    return this.#claimEntries;
  }

  /**
   * Adds the pool's events in the order of the chain.
   * @throws SottoError INVALID_ARGUMENT if an event that spends notes has no time of its block
   */
  addEvents(events: readonly SetEvent[]): void {
    for (const event of events) {
      if (event.type === "appended") continue;
      if (event.type === "deposited") this.#addDeposit(event.leafIndex, event.transactionHash);
      else this.#addSpend(event);
    }
  }

  #addDeposit(leaf: number, transaction: string): void {
    this.#deposits.set(leaf, transaction);
    const early = this.#early.get(earlyKey(leaf, transaction));
    if (early !== undefined) this.#judge(leaf, early);
  }

  #addSpend(event: Exclude<SetEvent, { type: "appended" | "deposited" }>): void {
    // Without it, every root would be good.
    if (!(event.timestamp > 0)) fail("INVALID_ARGUMENT", "an event that spends notes needs the time of its block");
    const made = event.type === "settled" ? 2 : event.commitment === 0n ? 0 : 1;
    const outputs = Array.from({ length: made }, (_, i) => event.leafIndex + i);
    const nullifiers = nullifiersOf(event);
    const spend = { nullifiers, outputs, time: event.timestamp };
    for (const nullifier of nullifiers) this.#spends.set(nullifier, spend);
    this.#inherit(spend);
  }

  /** Adds the next head. @param isOnChain whether the chain has its block: only then its root is good for claims */
  addHead({ maskRoot, blockTime }: Pick<OriginHead, "maskRoot" | "blockTime">, isOnChain: boolean): void {
    if (isOnChain) this.#roots.add({ maskRoot, time: blockTime });
  }

  /** Why a judgement would change nothing now. */
  judgementProblem({ type, leaf, transaction }: JudgementEntry): JudgementProblem | undefined {
    if (this.#deposits.get(leaf) !== transaction) return "NOT_A_DEPOSIT";
    return this.#judgements.get(leaf) === (type === "accept") ? "SAME_JUDGEMENT" : undefined;
  }

  /** Why a claim would change nothing now. Its proof must be checked apart. */
  claimProblem({ nullifier, maskRoot }: Pick<OriginClaim, "nullifier" | "maskRoot">): ClaimProblem | undefined {
    if (!this.#roots.has(maskRoot)) return "ROOT_UNKNOWN";
    const spend = this.#spends.get(nullifier);
    if (spend === undefined) return "NOT_SETTLED";
    if (this.#counts(nullifier, spend.time)) return "CLAIMED";
    return this.#roots.accepts(maskRoot, spend.time) ? undefined : "ROOT_STALE";
  }

  /** Whether a claim with this root was logged for the nullifier. */
  hasClaim({ nullifier, maskRoot }: Pick<OriginClaim, "nullifier" | "maskRoot">): boolean {
    return this.#claims.get(nullifier)?.includes(maskRoot) ?? false;
  }

  /** Applies the next entry. A claim's proof must be right. */
  apply(entry: LogEntry): void {
    if (entry.type === "claim") {
      this.#claim(entry.claim);
      return;
    }
    const { type, leaf, transaction } = entry;
    if (this.#deposits.get(leaf) === transaction) this.#judge(leaf, type === "accept");
    else this.#early.set(earlyKey(leaf, transaction), type === "accept");
  }

  #judge(leaf: number, isAccepted: boolean): void {
    this.#judgements.set(leaf, isAccepted);
    this.mask.set(leaf, isAccepted);
  }

  #claim(claim: OriginClaim): void {
    this.#claimEntries += 1;
    if (this.hasClaim(claim)) return;
    const { nullifier, maskRoot } = claim;
    this.#claims.set(nullifier, [...(this.#claims.get(nullifier) ?? []), maskRoot]);
    const spend = this.#spends.get(nullifier);
    if (spend !== undefined) this.#inherit(spend);
  }

  #inherit({ nullifiers, outputs, time }: Spend): void {
    if (nullifiers.every((nullifier) => this.#counts(nullifier, time)))
      for (const output of outputs) this.mask.set(output, true);
  }

  /** Whether a nullifier has a claim whose root was good at this time. */
  #counts(nullifier: bigint, time: number): boolean {
    return this.#claims.get(nullifier)?.some((root) => this.#roots.accepts(root, time)) ?? false;
  }
}

const earlyKey = (leaf: number, transaction: string): string => `${leaf} ${transaction}`;
