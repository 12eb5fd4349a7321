import { type DepositCall, LOCAL_CHAIN_IDS } from "@sotto/protocol";
import type { Operation, RelayerWrites, Row } from "../store/index.ts";
import { latestTime, MOST_REVERTS, type RelayerContext, type Round } from "./context.ts";
import { poolInterface, tokenInterface } from "./pool.ts";

/** What became of an operation. */
type Verdict =
  | { state: "settled"; txHash: string; blockNumber: number; ours: boolean; gasPaidBy?: string | undefined }
  | { state: "failed" | "expired"; reason: string };

/** Where a deposit's authorization was used, as the chain shows it. */
interface Authorization {
  txHash: string;
  blockNumber: number;
  deposited: boolean;
}

/** How far back the use of a deposit's authorization is looked for, blocks. */
const AUTHORIZATION_BLOCKS = 7_200;

/** Reasons for which something that ran out of time has failed rather than expired. */
const OWN_REASONS = /^(REORGANISED|REVERTED|GAS_BUDGET_EXHAUSTED|FEES_TOO_HIGH|UNKNOWN_ROOT)/;

/** Decides by the chain's events what is settled and what can never be. */
export class Judge {
  readonly #context: RelayerContext;

  constructor(context: RelayerContext) {
    this.#context = context;
  }

  /**
   * @param operations those that are not over
   * @returns nullifiers that the chain shows as spent
   */
  async judge(round: Round, operations: readonly Operation[]): Promise<Set<string>> {
    const { store, metrics, log } = this.#context;
    const spends = await store.ledger.spends(operations.flatMap(({ nullifiers }) => nullifiers));
    const verdicts: [Operation, Verdict][] = [];
    for (const operation of operations) {
      const verdict = await (operation.kind === "deposit"
        ? this.#deposit(operation, round)
        : this.#spending(operation, spends, round));
      if (verdict) verdicts.push([operation, verdict]);
    }
    if (verdicts.length === 0) return new Set(spends.keys());
    await store.asRelayer(round.lease, async (writes) => {
      for (const [operation, verdict] of verdicts) await write(writes, operation.id, verdict);
    });
    for (const [{ id, kind }, verdict] of verdicts) {
      if (verdict.state === "settled") {
        metrics.count("relayer_settled_total", 1, { kind });
        if (!verdict.ours) metrics.count("relayer_front_run_total", 1, { kind });
      } else metrics.count("relayer_failed_total", 1, { kind, reason: verdict.reason });
      log.info({ id, kind, ...verdict }, `${kind} ${verdict.state}`);
    }
    return new Set(spends.keys());
  }

  /** Whoever sent it: a nullifier spent with the digest of these signals is this payment or withdrawal. */
  async #spending(
    operation: Operation,
    spends: ReadonlyMap<string, Row<"spends">>,
    round: Round,
  ): Promise<Verdict | undefined> {
    const spend = operation.nullifiers.map((nullifier) => spends.get(nullifier)).find((found) => found !== undefined);
    if (spend === undefined) return this.#outOfTime(operation, round);
    if (spend.block_number > round.confirmedNumber) return undefined;
    if (spend.digest !== operation.digest) return { state: "failed", reason: "NULLIFIER_SPENT" };
    return this.#settled(operation, spend.tx_hash, spend.block_number);
  }

  /**
   * A deposit is known by its authorization, whose nonce commits to the notes. The chain is asked about one that was sent,
   * or can be no more: anybody signs worthless ones, and a round must not wait for a question about each.
   */
  async #deposit(operation: Operation, round: Round): Promise<Verdict | undefined> {
    const { txHash, reverts, reason = "REVERTED" } = operation;
    const hopeless: Verdict | undefined =
      txHash === undefined && reverts >= MOST_REVERTS ? { state: "failed", reason } : undefined;
    const over = hopeless ?? (await this.#outOfTime(operation, round));
    if (txHash === undefined && over === undefined) return undefined;
    const used = await this.#authorization(operation, round);
    if (used === undefined) return over;
    if (used.blockNumber > round.confirmedNumber) return undefined;
    if (!used.deposited) return { state: "failed", reason: "AUTHORIZATION_SPENT" };
    return this.#settled(operation, used.txHash, used.blockNumber);
  }

  async #settled(operation: Operation, txHash: string, blockNumber: number): Promise<Verdict> {
    const ours = txHash === operation.txHash;
    const gasPaidBy = ours ? undefined : (await this.#context.chain.receipt(txHash))?.from;
    return { state: "settled", txHash, blockNumber, ours, gasPaidBy };
  }

  async #authorization(operation: Operation, round: Round): Promise<Authorization | undefined> {
    const { chain, pool } = this.#context;
    if (operation.txHash !== undefined) {
      const own = await this.#depositedBy(operation, operation.txHash);
      if (own?.deposited) return own;
    }
    const { from } = operation.call as DepositCall;
    const used = await chain.read(tokenInterface, pool.token, "authorizationState", [from, nonceOf(operation)]);
    // Logs are looked for only when somebody else must have used it: they may be far back.
    if (used !== true) return undefined;
    const txHash = await this.#usedBy(operation, round);
    return txHash === undefined ? undefined : this.#depositedBy(operation, txHash);
  }

  /** The transaction in which the authorization was used or cancelled, from the newest block back. */
  async #usedBy(operation: Operation, { head }: Round): Promise<string | undefined> {
    const { chain, pool, config } = this.#context;
    const { from } = operation.call as DepositCall;
    const topics = (name: string) => tokenInterface.encodeFilterTopics(name, [from, nonceOf(operation)]) as string[];
    const oldest = Math.max(pool.deploymentBlock, head.number - AUTHORIZATION_BLOCKS);
    for (let last = head.number; last >= oldest; last -= config.rangeSize) {
      const first = Math.max(oldest, last - config.rangeSize + 1);
      for (const name of ["AuthorizationUsed", "AuthorizationCanceled"]) {
        const log = (await chain.use((view) => view.logs(pool.token, first, last, topics(name)))).at(-1);
        if (log !== undefined) return log.transactionHash;
      }
    }
    return undefined;
  }

  async #depositedBy({ call }: Operation, txHash: string): Promise<Authorization | undefined> {
    const { chain, pool } = this.#context;
    const receipt = await chain.receipt(txHash);
    if (receipt === undefined) return undefined;
    const tags = new Set<string>();
    for (const entry of receipt.logs) {
      const event = entry.address === pool.pool ? poolInterface.parseLog(entry) : null;
      if (event?.name === "Deposited") tags.add(String(event.args["ownerTag"]));
    }
    const deposited = (call as DepositCall).ownerTags.every((tag) => tags.has(tag));
    return { txHash, blockNumber: receipt.blockNumber, deposited };
  }

  /**
   * The contract refuses it after its date, so once a block later than that has its confirmations, nothing of it can
   * land. A local chain makes no blocks while nobody uses it: there this machine's clock has to do.
   */
  async #outOfTime({ validUntil, reason, nullifiers }: Operation, round: Round): Promise<Verdict | undefined> {
    const local = LOCAL_CHAIN_IDS.includes(this.#context.pool.chainId);
    const idle = local && latestTime(this.#context, round) > validUntil + 1;
    if (round.confirmedTimestamp <= validUntil && !idle) return undefined;
    // Before notes are set free the contract itself must call them unspent, whatever the events said.
    if (await this.#anySpent(nullifiers)) return undefined;
    if (reason !== undefined && OWN_REASONS.test(reason)) return { state: "failed", reason };
    return { state: "expired", reason: "EXPIRED" };
  }

  async #anySpent(nullifiers: readonly string[]): Promise<boolean> {
    const { chain, pool, log } = this.#context;
    for (const nullifier of nullifiers) {
      if ((await chain.read(poolInterface, pool.pool, "isSpent", [nullifier])) !== true) continue;
      log.warn({}, "the contract calls a note spent that no event shows as spent");
      return true;
    }
    return false;
  }
}

async function write({ operations }: RelayerWrites, id: string, verdict: Verdict): Promise<void> {
  if (verdict.state === "settled") await operations.settled(id, verdict);
  else await operations.over(id, verdict.state, verdict.reason);
}

/** A deposit's digest is depositor and nonce. */
const nonceOf = ({ digest }: Operation): string => digest.slice(digest.indexOf(":") + 1);
