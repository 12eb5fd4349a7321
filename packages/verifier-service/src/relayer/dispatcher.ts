import type { DepositCall } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { latestTime, MOST_REVERTS, margin, type RelayerContext, type Round } from "./context.ts";
import { CallReverted } from "./errors.ts";
import { decodeOutcomes, revertReason, settleData, singleData } from "./pool.ts";
import type { Sender, SendResult } from "./sender.ts";

/** An operation that is not sent now, and why. */
interface KeptBack {
  operation: Operation;
  reason: string;
  /** Whether sending it would revert: an error of its own, not of the moment. */
  reverts: boolean;
}

const FIRST_RETRY_MS = 500;
/** Deposits and withdrawals tried in one round: payments do not wait for more that may all be worthless. */
const MOST_SINGLES = 8;

/** Decides what is sent now, and in which transactions. */
export class Dispatcher {
  readonly #context: RelayerContext;
  readonly #sender: Sender;

  constructor(context: RelayerContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /**
   * Sends what waits. Several payments share a transaction.
   * @param spent nullifiers that the chain already shows: what spends them waits for their confirmations
   * @returns whether anything was sent
   */
  async dispatch(round: Round, operations: readonly Operation[], spent: ReadonlySet<string>): Promise<boolean> {
    const ready = operations.filter((operation) => this.#isReady(operation, round, spent));
    let sent = false;
    const underWay = (await this.#context.store.outbox.open()).filter(({ state }) => state === "sent").length;
    let room = this.#context.config.maxInFlight - underWay;
    const singles = ready.filter(({ kind }) => kind !== "payment").slice(0, MOST_SINGLES);
    let payments = this.#ripe(ready.filter(({ kind }) => kind === "payment"));
    while (room > 0 && (payments.length > 0 || singles.length > 0)) {
      const batch = payments.length > 0 ? payments.slice(0, this.#context.config.maxBatch) : [singles.shift()!];
      payments = payments.slice(payments.length > 0 ? batch.length : 0);
      if (await this.#sendBatch(batch, round)) {
        sent = true;
        room -= 1;
      }
    }
    return sent;
  }

  #isReady(
    { state, kind, retryAt, validUntil, nullifiers, call }: Operation,
    round: Round,
    spent: ReadonlySet<string>,
  ) {
    if (state !== "queued" || retryAt > this.#context.clock()) return false;
    // Later than this it might miss its date, and then its gas is spent for nothing.
    if (validUntil - latestTime(this.#context, round) < margin(this.#context)) return false;
    if (kind === "deposit" && Number((call as DepositCall).validAfter) >= round.head.timestamp) return false;
    return !nullifiers.some((nullifier) => spent.has(nullifier));
  }

  /** Payments wait a moment for others, unless enough are there. */
  #ripe(payments: readonly Operation[]): readonly Operation[] {
    const { clock, config } = this.#context;
    const oldest = payments[0];
    const waited = oldest === undefined ? 0 : clock() - oldest.createdAt;
    return waited >= config.batchDelay || payments.length >= config.maxBatch ? payments : [];
  }

  /** Simulates, leaves out what would fail, and sends the rest. */
  async #sendBatch(operations: readonly Operation[], round: Round): Promise<boolean> {
    const { good, kept } = await this.#simulate(operations);
    await this.#keepBack(kept, round);
    for (let batch = good; batch.length > 0; batch = batch.slice(0, Math.floor(batch.length / 2))) {
      const plan = this.#planOf(batch);
      const gas = await this.#estimate(plan.data);
      if (gas === undefined || gas > this.#context.config.maxGas) continue;
      const result = await this.#sender.send({ ...plan, gasLimit: gas }, round);
      if (result === "sent") return true;
      await this.#postpone(batch, result, round);
      return false;
    }
    return false;
  }

  #planOf(operations: readonly Operation[]) {
    const [first] = operations;
    const { pool } = this.#context.pool;
    const operationIds = operations.map(({ id }) => id);
    if (first?.kind === "payment")
      return { kind: "settle" as const, to: pool, data: settleData(operations), operationIds };
    const kind = first?.kind === "deposit" ? ("deposit" as const) : ("withdraw" as const);
    return { kind, to: pool, data: singleData(first!), operationIds };
  }

  /** What the call needs, and a quarter more: what others do before it is mined changes the price of storage. */
  async #estimate(data: string): Promise<bigint | undefined> {
    const { chain, address, pool } = this.#context;
    try {
      const gas = await chain.estimateGas({ from: address, to: pool.pool, data });
      return gas + gas / 4n;
    } catch (error) {
      if (error instanceof CallReverted) return undefined;
      throw error;
    }
  }

  /** Finds what the contract would do with each; a batch that reverts is halved until the culprit is found. */
  async #simulate(operations: readonly Operation[]): Promise<{ good: Operation[]; kept: KeptBack[] }> {
    const { chain, address, pool } = this.#context;
    try {
      const { data, kind } = this.#planOf(operations);
      const result = await chain.call({ from: address, to: pool.pool, data });
      if (kind !== "settle") return { good: [...operations], kept: [] };
      const outcomes = decodeOutcomes(result);
      const good = operations.filter((_, i) => outcomes[i] === "Settled");
      const kept = operations.flatMap((operation, i) =>
        outcomes[i] === "Settled"
          ? []
          : [{ operation, reason: SKIPPED[outcomes[i] ?? ""] ?? "SKIPPED", reverts: false }],
      );
      return { good, kept };
    } catch (error) {
      if (!(error instanceof CallReverted)) throw error;
      const [only] = operations;
      if (operations.length === 1 && only) return { good: [], kept: [refusal(only, error.data)] };
      const middle = Math.ceil(operations.length / 2);
      const halves = [operations.slice(0, middle), operations.slice(middle)];
      const found = [await this.#simulate(halves[0]!), await this.#simulate(halves[1]!)];
      return { good: found.flatMap(({ good }) => good), kept: found.flatMap(({ kept }) => kept) };
    }
  }

  async #keepBack(kept: readonly KeptBack[], { lease }: Round): Promise<void> {
    const { store, clock, log, metrics } = this.#context;
    if (kept.length === 0) return;
    await store.asRelayer(lease, async ({ operations }) => {
      for (const { operation, reason, reverts } of kept) {
        const count = reverts ? operation.reverts + 1 : 0;
        // Only what was never in a transaction cannot land any more when we give it up before its date.
        // Of a deposit the judge asks first whether somebody else has submitted it.
        const hopeless = count >= MOST_REVERTS && operation.txHash === undefined && operation.kind !== "deposit";
        if (hopeless) await operations.over(operation.id, "failed", reason);
        else await operations.keptBack(operation.id, reason, count, clock() + FIRST_RETRY_MS * 2 ** Math.min(count, 5));
      }
    });
    for (const { operation, reason } of kept) {
      log.warn({ id: operation.id, kind: operation.kind, reason }, "kept back: it would not succeed now");
      metrics.count("relayer_errors_total", 1, { code: reason });
    }
  }

  async #postpone(batch: readonly Operation[], reason: SendResult, { lease }: Round): Promise<void> {
    const { store, clock, log } = this.#context;
    log.warn({ reason, operations: batch.length }, "nothing is sent at this price");
    await store.asRelayer(lease, async ({ operations }) => {
      for (const { id, reverts } of batch) await operations.keptBack(id, reason, reverts, clock() + 1_000);
    });
  }
}

/** A note that is spent shows in the events too: whether by this very withdrawal is theirs to say. */
function refusal(operation: Operation, data: string): KeptBack {
  const reason = revertReason(data);
  return { operation, reason, reverts: reason !== "REVERTED_NULLIFIER_ALREADY_SPENT" };
}

/** Why the contract would leave a payment out. */
const SKIPPED: Readonly<Record<string, string>> = {
  NullifierSpent: "NULLIFIER_SPENT",
  Expired: "EXPIRED",
  UnknownRoot: "UNKNOWN_ROOT",
};
