import { CallReverted } from "@sotto/chain";
import type { DepositCall } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { decodeOutcomes, revertReason, settleData, singleData } from "./calldata.ts";
import { latestTime, MAX_REVERTS, margin, type RelayerContext, type Round } from "./context.ts";
import type { Sender, SendResult } from "./sender.ts";

/** An operation that is not sent now, and why. */
interface Deferred {
  operation: Operation;
  reason: string;
  /** Whether sending it would revert: an error of its own, not of the moment. */
  reverts: boolean;
}

/** sent: in a transaction. deferred: nothing of the batch was worth sending. Otherwise why nothing can be sent now. */
type BatchResult = SendResult | "deferred";

const FIRST_RETRY_MS = 500;
const RETRY_LATER_MS = 1_000;
/** A quota that is used up comes back at the end of the day. */
const QUOTA_RETRY_MS = 600_000;
/** How long deposits and withdrawals pause after the price of gas or the budget held one up. */
const PAUSE_MS = 5_000;
/** How long nothing is sent after gas could not be estimated: twice as long each time. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** Deposits and withdrawals simulated in one round: what a node computes for them, payments wait for. */
const MAX_SIMULATED = 16;

/** Decides what is sent now, and in which transactions. */
export class Dispatcher {
  readonly #context: RelayerContext;
  readonly #sender: Sender;
  #othersPausedUntil = 0;
  #pausedUntil = 0;
  /** Estimates that failed one after another. */
  #failedEstimates = 0;

  constructor(context: RelayerContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /**
   * Sends payments that wait. Several share a transaction.
   * @param spent nullifiers that the chain already shows: what spends them waits for their confirmations
   * @returns whether anything was sent
   */
  async dispatchPayments(round: Round, queued: readonly Operation[], spent: ReadonlySet<string>): Promise<boolean> {
    const { config, clock } = this.#context;
    if (clock() < this.#pausedUntil) return false;
    let payments = this.#ripe(queued.filter((payment) => this.#isReady(payment, round, spent)));
    let { room } = await this.#room();
    let sent = false;
    while (room > 0 && payments.length > 0) {
      const batch = payments.slice(0, config.maxBatch);
      const result = await this.#sendBatch(batch, round);
      if (result !== "sent" && result !== "deferred") {
        await this.#postpone(payments, result, round);
        break;
      }
      payments = payments.slice(batch.length);
      if (result === "sent") {
        sent = true;
        room -= 1;
      }
    }
    return sent;
  }

  /**
   * Sends deposits and withdrawals that wait, each in a transaction of its own, in the turns of their accounts.
   * @returns whether anything was sent
   */
  async dispatchOthers(round: Round): Promise<boolean> {
    const { store, clock } = this.#context;
    let { roomForOthers: room } = await this.#room();
    if (room <= 0 || clock() < Math.max(this.#othersPausedUntil, this.#pausedUntil)) return false;
    const earliest = latestTime(this.#context, round) + margin(this.#context);
    const found = await store.operations.ready(earliest, MAX_REVERTS, MAX_SIMULATED);
    const spent = new Set((await store.ledger.spends(found.flatMap(({ nullifiers }) => nullifiers))).keys());
    await this.#postponeEarly(found, round);
    const ready = found.filter((operation) => this.#isReady(operation, round, spent));
    const good = await this.#simulateOthers(await this.#oneForEachDepositor(ready), round);
    let sent = false;
    for (const operation of good) {
      if (room <= 0) break;
      const result = await this.#sendSome([operation], round);
      if (result === "sent") {
        sent = true;
        room -= 1;
      } else if (result !== "deferred") {
        await this.#postpone([operation], result, round);
        // The operation's own quota says nothing about the others.
        if (result === "QUOTA_EXCEEDED") continue;
        this.#othersPausedUntil = clock() + PAUSE_MS;
        break;
      }
    }
    return sent;
  }

  /** Transactions that may be added to those under way; deposits and withdrawals never take the last half of them. */
  async #room(): Promise<{ room: number; roomForOthers: number }> {
    const { store, config } = this.#context;
    const underWay = (await store.outbox.open()).filter(({ state }) => state === "sent");
    const others = underWay.filter(({ kind }) => kind === "deposit" || kind === "withdraw").length;
    const room = config.maxInFlight - underWay.length;
    return { room, roomForOthers: Math.min(room, Math.ceil(config.maxInFlight / 2) - others) };
  }

  /** Two deposits of one account are not simulated together, so the second waits until the first is mined. */
  async #oneForEachDepositor(operations: readonly Operation[]): Promise<Operation[]> {
    const { store } = this.#context;
    const unmined = new Set((await store.outbox.open()).filter(({ state }) => state === "sent").map(({ id }) => id));
    const carried = (await store.operations.broadcast()).filter(({ transactionId }) =>
      unmined.has(transactionId ?? ""),
    );
    const busy = new Set(carried.filter(({ kind }) => kind === "deposit").map(({ account }) => account));
    return operations.filter(({ kind, account }) => {
      if (kind !== "deposit") return true;
      if (busy.has(account)) return false;
      busy.add(account);
      return true;
    });
  }

  #isReady(operation: Operation, round: Round, spent: ReadonlySet<string>): boolean {
    const { state, retryAt, validUntil, nullifiers } = operation;
    if (state !== "queued" || retryAt > this.#context.clock()) return false;
    // Later than this it might miss its date, and then its gas is spent for nothing.
    if (validUntil - latestTime(this.#context, round) < margin(this.#context)) return false;
    return !isEarly(operation, round) && !nullifiers.some((nullifier) => spent.has(nullifier));
  }

  /** Deposits that the chain's time has not come to yet must not take the places of others. */
  async #postponeEarly(operations: readonly Operation[], round: Round): Promise<void> {
    const { store, clock } = this.#context;
    const early = operations.filter((operation) => isEarly(operation, round)).map(({ id }) => id);
    if (early.length === 0) return;
    const retryAt = clock() + RETRY_LATER_MS;
    await store.asRelayer(round.lease, ({ operations }) => operations.postponed(early, "NOT_VALID_YET", retryAt));
  }

  /** Payments wait a moment for others, unless enough are there. */
  #ripe(payments: readonly Operation[]): readonly Operation[] {
    const { clock, config } = this.#context;
    const oldest = payments[0];
    const waited = oldest === undefined ? 0 : clock() - oldest.createdAt;
    return waited >= config.batchDelay || payments.length >= config.maxBatch ? payments : [];
  }

  /** Simulates payments, leaves out what would fail, and sends the rest. */
  async #sendBatch(payments: readonly Operation[], round: Round): Promise<BatchResult> {
    const { good, deferred } = await this.#simulate(payments);
    await this.#defer(deferred, round);
    return this.#sendSome(good, round);
  }

  /** Sends as many of these as fit into a transaction. */
  async #sendSome(operations: readonly Operation[], round: Round): Promise<BatchResult> {
    for (let batch = operations; batch.length > 0; batch = batch.slice(0, Math.floor(batch.length / 2))) {
      const plan = this.#planOf(batch);
      const gas = await this.#estimate(plan.data);
      if (gas === undefined || gas > this.#context.config.maxGas) continue;
      return this.#sender.send({ ...plan, gasLimit: gas }, round);
    }
    await this.#backOff(operations.slice(0, 1), round);
    return "deferred";
  }

  /** Keeps back what succeeds when it is simulated, but whose gas is too much or cannot be estimated: longer each time. */
  async #backOff(operations: readonly Operation[], { lease }: Round): Promise<void> {
    const { store, clock, log, metrics } = this.#context;
    for (const { id, kind, reverts, createdAt } of operations) {
      const pause = Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, (clock() - createdAt) / 2));
      const retryAt = clock() + Math.round(pause);
      await store.asRelayer(lease, (writes) => writes.operations.deferred(id, "ESTIMATE_FAILED", reverts, retryAt));
      log.warn({ id, kind, pause }, "deferred: its gas cannot be estimated");
      metrics.count("relayer_errors_total", 1, { code: "ESTIMATE_FAILED" });
    }
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
    const { chain, address, pool, clock } = this.#context;
    try {
      const gas = await chain.estimateGas({ from: address, to: pool.pool, data });
      this.#failedEstimates = 0;
      return gas + gas / 4n;
    } catch (error) {
      if (error instanceof CallReverted) return undefined;
      // The nodes do not estimate, or the account has no funds: asking in each round would not change that.
      this.#pausedUntil = clock() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failedEstimates);
      this.#failedEstimates += 1;
      throw error;
    }
  }

  /** Finds what the contract would do with each; a batch that reverts is halved until the culprit is found. */
  async #simulate(operations: readonly Operation[]): Promise<{ good: Operation[]; deferred: Deferred[] }> {
    const { chain, address, pool } = this.#context;
    try {
      const { data } = this.#planOf(operations);
      const outcomes = decodeOutcomes(await chain.call({ from: address, to: pool.pool, data }));
      const good = operations.filter((_, i) => outcomes[i] === "Settled");
      const deferred = operations.flatMap((operation, i) =>
        outcomes[i] === "Settled"
          ? []
          : [{ operation, reason: SKIPPED[outcomes[i] ?? ""] ?? "SKIPPED", reverts: false }],
      );
      return { good, deferred };
    } catch (error) {
      if (!(error instanceof CallReverted)) throw error;
      const [only] = operations;
      if (operations.length === 1 && only) return { good: [], deferred: [refusal(only, error.data)] };
      const middle = Math.ceil(operations.length / 2);
      const halves = [operations.slice(0, middle), operations.slice(middle)];
      const found = [await this.#simulate(halves[0]!), await this.#simulate(halves[1]!)];
      return { good: found.flatMap(({ good }) => good), deferred: found.flatMap(({ deferred }) => deferred) };
    }
  }

  /** Simulates deposits and withdrawals, all at once. @returns those that would succeed */
  async #simulateOthers(operations: readonly Operation[], round: Round): Promise<Operation[]> {
    const { chain, address, pool } = this.#context;
    const deferred: Deferred[] = [];
    const calls = operations.flatMap((operation) => {
      try {
        return [{ operation, call: { from: address, to: pool.pool, data: singleData(operation) } }];
      } catch (error) {
        if (!(error instanceof CallReverted)) throw error;
        deferred.push(refusal(operation, error.data));
        return [];
      }
    });
    const results = await chain.calls(calls.map(({ call }) => call));
    const good: Operation[] = [];
    for (const [index, { operation }] of calls.entries()) {
      const result = results[index];
      if (result instanceof CallReverted) deferred.push(refusal(operation, result.data));
      else good.push(operation);
    }
    await this.#defer(deferred, round);
    return good;
  }

  async #defer(deferred: readonly Deferred[], { lease }: Round): Promise<void> {
    const { store, clock, log, metrics } = this.#context;
    if (deferred.length === 0) return;
    await store.asRelayer(lease, async ({ operations }) => {
      for (const { operation, reason, reverts } of deferred) {
        const count = reverts ? operation.reverts + 1 : 0;
        // Only what was never in a transaction cannot land any more when we give it up before its date. Of a deposit or
        // withdrawal the resolver asks the chain first.
        const cannotLand = count >= MAX_REVERTS && operation.txHash === undefined && operation.kind === "payment";
        if (cannotLand) await operations.ended(operation.id, "failed", reason);
        else await operations.deferred(operation.id, reason, count, clock() + FIRST_RETRY_MS * 2 ** Math.min(count, 5));
      }
    });
    for (const { operation, reason } of deferred) {
      log.warn({ id: operation.id, kind: operation.kind, reason }, "deferred: it would not succeed now");
      metrics.count("relayer_errors_total", 1, { code: reason });
    }
  }

  async #postpone(operations: readonly Operation[], reason: SendResult, { lease }: Round): Promise<void> {
    const { store, clock, log } = this.#context;
    log.warn({ reason, operations: operations.length }, "nothing is sent now");
    const retryAt = clock() + (reason === "QUOTA_EXCEEDED" ? QUOTA_RETRY_MS : RETRY_LATER_MS);
    const ids = operations.map(({ id }) => id);
    await store.asRelayer(lease, (writes) => writes.operations.postponed(ids, reason, retryAt));
  }
}

const isEarly = ({ kind, call }: Operation, { head }: Round): boolean =>
  kind === "deposit" && Number((call as DepositCall).validAfter) >= head.timestamp;

/** A note that is spent shows in the events too: whether by this very withdrawal is theirs to say. */
function refusal(operation: Operation, data: string): Deferred {
  const reason = revertReason(data);
  return { operation, reason, reverts: reason !== "REVERTED_NULLIFIER_ALREADY_SPENT" };
}

/** Why the contract would leave a payment out. */
const SKIPPED: Readonly<Record<string, string>> = {
  NullifierSpent: "NULLIFIER_SPENT",
  Expired: "EXPIRED",
  UnknownRoot: "UNKNOWN_ROOT",
};
