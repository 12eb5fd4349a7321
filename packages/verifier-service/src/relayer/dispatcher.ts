import { type Call, CallReverted } from "@sotto/chain";
import type { DepositCall } from "@sotto/protocol";
import { toQuantity } from "ethers";
import type { Operation } from "../store/index.ts";
import type { Room } from "./accounts.ts";
import { decodeOutcomes, revertReason, settleData, singleData } from "./calldata.ts";
import { areUsed, atHead } from "./chain-reads.ts";
import { latestTime, MAX_REVERTS, margin, type RelayerContext, type Round } from "./context.ts";
import { AUTHORIZATION_USED } from "./final-outcome.ts";
import { depositGas } from "./gas.ts";
import type { Plan, Sender, SendResult } from "./sender.ts";

/** An operation that is not sent in this round. */
interface Deferred {
  operation: Operation;
  reason: string;
  /** Whether the operation itself causes the revert, not the pool's current state. */
  reverts: boolean;
}

/** sent: in a transaction. deferred: no operation of the batch would succeed. Otherwise the reason why nothing can be sent now. */
type BatchResult = SendResult | "deferred";

const FIRST_RETRY_MS = 500;
const RETRY_LATER_MS = 1_000;
/** An exhausted quota is available again on the next day, so retries are rare. */
const QUOTA_RETRY_MS = 600_000;
/** Pause for deposits and withdrawals after the gas price or the budget stopped one. */
const PAUSE_MS = 5_000;
/** Pause after gas could not be estimated, doubled each time. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** Deposits and withdrawals simulated per round. Payments wait for these simulations. */
const MAX_SIMULATED = 16;

/** Decides which operations are sent, and in which transactions. */
export class Dispatcher {
  readonly #context: RelayerContext;
  readonly #sender: Sender;
  #othersPausedUntil = 0;
  #pausedUntil = 0;
  /** Consecutive estimates that failed. */
  #failedEstimates = 0;

  constructor(context: RelayerContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /**
   * Sends queued payments, several per transaction.
   * @param spent nullifiers that are already spent on chain; their payments wait for the confirmations
   * @returns whether anything was sent
   */
  async dispatchPayments(round: Round, queued: readonly Operation[], spent: ReadonlySet<string>): Promise<boolean> {
    const { config, clock } = this.#context;
    if (clock() < this.#pausedUntil) return false;
    let payments = this.#ripe(queued.filter((payment) => this.#isReady(payment, round, spent)));
    let { room, roomForFew } = await this.#room();
    let sent = false;
    while (room > 0 && payments.length > 0) {
      const batch = payments.slice(0, config.maxBatch);
      if (batch.length < config.maxBatch && roomForFew <= 0) break;
      const result = await this.#sendBatch(batch, round);
      if (result === "BUSY") break;
      if (result !== "sent" && result !== "deferred") {
        await this.#postpone(payments, result, round);
        break;
      }
      payments = payments.slice(batch.length);
      if (result === "sent") {
        sent = true;
        room -= 1;
        roomForFew -= 1;
      }
    }
    return sent;
  }

  /**
   * Sends queued deposits and withdrawals in turn, each in its own transaction.
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
      } else if (result === "BUSY") break;
      else if (result !== "deferred") {
        await this.#postpone([operation], result, round);
        // Other operations have other quotas.
        if (result === "QUOTA_EXCEEDED") continue;
        this.#othersPausedUntil = clock() + PAUSE_MS;
        break;
      }
    }
    return sent;
  }

  async #room(): Promise<Room> {
    const { store, accounts } = this.#context;
    return accounts.room(await store.outbox.summaries());
  }

  /** Two deposits of one account are not simulated together, so the second waits until the first is mined. */
  async #oneForEachDepositor(operations: readonly Operation[]): Promise<Operation[]> {
    const { store } = this.#context;
    const unmined = new Set(
      (await store.outbox.summaries()).filter(({ state }) => state === "sent").map(({ id }) => id),
    );
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
    // A transaction that misses the deadline would waste its gas.
    if (validUntil - latestTime(this.#context, round) < margin(this.#context)) return false;
    return !isEarly(operation, round) && !nullifiers.some((nullifier) => spent.has(nullifier));
  }

  /** Defers deposits that are not valid yet (validAfter), so that they do not delay others. */
  async #postponeEarly(operations: readonly Operation[], round: Round): Promise<void> {
    const { store, clock } = this.#context;
    const early = operations.filter((operation) => isEarly(operation, round)).map(({ id }) => id);
    if (early.length === 0) return;
    const retryAt = clock() + RETRY_LATER_MS;
    await store.asRelayer(round.lease, ({ operations }) => operations.postponed(early, "NOT_VALID_YET", retryAt));
  }

  /** Payments wait `batchDelay` for others to share a transaction, unless the batch is full. */
  #ripe(payments: readonly Operation[]): readonly Operation[] {
    const { clock, config } = this.#context;
    const oldest = payments[0];
    const waited = oldest === undefined ? 0 : clock() - oldest.createdAt;
    return waited >= config.batchDelay || payments.length >= config.maxBatch ? payments : [];
  }

  /** Simulates payments, defers those that would fail, and sends the others. */
  async #sendBatch(payments: readonly Operation[], round: Round): Promise<BatchResult> {
    const { good, deferred } = await this.#simulate(payments, round);
    await this.#defer(deferred, round);
    return this.#sendSome(good, round);
  }

  /** Sends as many of these as fit into one transaction, and as one account can pay for. */
  async #sendSome(operations: readonly Operation[], round: Round): Promise<BatchResult> {
    let batch = operations;
    while (batch.length > 0) {
      const plan = this.#planOf(batch);
      const limit = await this.#gasLimit(batch[0]!, plan.data);
      const gas = await this.#estimate(plan.data, limit, round);
      let count = Math.floor(batch.length / 2);
      if (gas !== undefined && (await this.#fits(gas, plan))) {
        const result = await this.#sender.send({ ...plan, gasLimit: gas }, round);
        if (result !== "RELAYER_BALANCE_LOW") return result;
        // Fewer need at least their share of the gas, so estimates of more than this would be in vain.
        const payable = (await this.#sender.payableGas(plan.kind, round)) * BigInt(batch.length);
        count = Math.min(batch.length - 1, Number(payable / gas));
        if (count <= 0) return result;
      }
      batch = batch.slice(0, count);
    }
    await this.#backOff(operations.slice(0, 1), round);
    return "deferred";
  }

  /** Gas that pays for data on a parent chain does not count: it depends on prices there, and blocks do not limit it. */
  async #fits(gas: bigint, { to, data }: Pick<Plan, "to" | "data">): Promise<boolean> {
    const { config, market } = this.#context;
    return gas <= config.maxGas || gas - (await market.dataGas(to, data)) <= config.maxGas;
  }

  /**
   * Limits the gas of a deposit, because a contract account can spend any amount while the token checks its signature. Others
   * have no limit of their own.
   */
  async #gasLimit({ kind, call }: Operation, data: string): Promise<bigint | undefined> {
    if (kind !== "deposit") return undefined;
    const { market, pool } = this.#context;
    return depositGas((call as DepositCall).ownerTags.length) + (await market.dataGas(pool.pool, data));
  }

  /** Defers operations that pass the simulation but need too much gas or cannot be estimated, longer each time. */
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
    const traced = operations.filter(({ trace }) => trace !== undefined);
    if (first?.kind === "payment")
      return { kind: "settle" as const, to: pool, data: settleData(operations), operationIds, traced };
    const kind = first?.kind === "deposit" ? ("deposit" as const) : ("withdraw" as const);
    return { kind, to: pool, data: singleData(first!), operationIds, traced };
  }

  /**
   * The estimated gas and a quarter more, but at most the limit: transactions mined before it can change the cost of storage
   * writes.
   */
  async #estimate(data: string, limit: bigint | undefined, round: Round): Promise<bigint | undefined> {
    const { chain, accounts, pool, clock } = this.#context;
    try {
      const call = { from: accounts.caller.address, to: pool.pool, data, ...gasOf(limit) };
      const gas = await atHead(chain, round, (node) => node.estimateGas(call));
      this.#failedEstimates = 0;
      const wanted = gas + gas / 4n;
      return limit !== undefined && wanted > limit ? limit : wanted;
    } catch (error) {
      if (error instanceof CallReverted) return undefined;
      // The nodes cannot estimate, or the account has no funds. Retrying in every round would not help.
      this.#pausedUntil = clock() + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failedEstimates);
      this.#failedEstimates += 1;
      throw error;
    }
  }

  /** Simulates a batch. If it reverts, both halves are simulated, down to the operation that reverts. */
  async #simulate(
    operations: readonly Operation[],
    round: Round,
  ): Promise<{ good: Operation[]; deferred: Deferred[] }> {
    const { chain, accounts, pool } = this.#context;
    try {
      const call = { from: accounts.caller.address, to: pool.pool, data: this.#planOf(operations).data };
      const outcomes = decodeOutcomes(await atHead(chain, round, (node) => node.call(call)));
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
      const found = [await this.#simulate(halves[0]!, round), await this.#simulate(halves[1]!, round)];
      return { good: found.flatMap(({ good }) => good), deferred: found.flatMap(({ deferred }) => deferred) };
    }
  }

  /** Simulates deposits and withdrawals in one request. @returns those that would succeed */
  async #simulateOthers(operations: readonly Operation[], round: Round): Promise<Operation[]> {
    const { chain, accounts, pool } = this.#context;
    const deferred: Deferred[] = [];
    const calls: { operation: Operation; call: Call }[] = [];
    for (const operation of operations) {
      try {
        const data = singleData(operation);
        const limit = await this.#gasLimit(operation, data);
        calls.push({ operation, call: { from: accounts.caller.address, to: pool.pool, data, ...gasOf(limit) } });
      } catch (error) {
        if (!(error instanceof CallReverted)) throw error;
        deferred.push(refusal(operation, error.data));
      }
    }
    const run = () => atHead(chain, round, (node) => node.calls(calls.map(({ call }) => call)));
    const results = calls.length === 0 ? [] : await run();
    const good: Operation[] = [];
    for (const [index, { operation }] of calls.entries()) {
      const result = results[index];
      if (result instanceof CallReverted) deferred.push(refusal(operation, result.data));
      else good.push(operation);
    }
    await this.#defer(await this.#findUsed(deferred, round), round);
    return good;
  }

  /** A deposit that another sender submitted reverts too, but it has not failed: the resolver finds its transaction. */
  async #findUsed(deferred: readonly Deferred[], round: Round): Promise<Deferred[]> {
    const deposits = deferred.map(({ operation }) => operation).filter(({ kind }) => kind === "deposit");
    const used = await areUsed(this.#context, deposits, round);
    const isUsed = (operation: Operation) => used[deposits.indexOf(operation)] === true;
    return deferred.map((each) =>
      isUsed(each.operation) ? { ...each, reason: AUTHORIZATION_USED, reverts: false } : each,
    );
  }

  /**
   * Those of these deposits and withdrawals that another revert would fail although a transaction that was given up can still be
   * mined: no other one has used its nonce.
   */
  async #mayBeMined(deferred: readonly Deferred[], { confirmedNumber }: Round): Promise<Set<Operation>> {
    const { store, chain } = this.#context;
    const counts = new Map<string, number>();
    const found = new Set<Operation>();
    for (const { operation, reverts } of deferred) {
      const { kind, txHash } = operation;
      if (!reverts || kind === "payment" || txHash === undefined || operation.reverts < MAX_REVERTS - 1) continue;
      const dropped = await store.outbox.dropped(txHash);
      if (dropped === undefined) continue;
      const { sender, nonce } = dropped;
      const count = counts.get(sender) ?? (await chain.transactionCount(sender, Math.max(0, confirmedNumber)));
      counts.set(sender, count);
      if (count <= nonce) found.add(operation);
    }
    return found;
  }

  async #defer(deferred: readonly Deferred[], round: Round): Promise<void> {
    const { store, clock, log, metrics, config } = this.#context;
    const { lease, head } = round;
    if (deferred.length === 0) return;
    const mayBeMined = await this.#mayBeMined(deferred, round);
    const failed = new Set<Operation>();
    await store.asRelayer(lease, async ({ operations }) => {
      for (const { operation, reason, reverts } of deferred) {
        // A reorganization can make every simulation on one block revert, so each block counts once.
        const isNew = operation.revertBlock !== head.number;
        const most = mayBeMined.has(operation) ? MAX_REVERTS - 1 : Number.POSITIVE_INFINITY;
        const count = reverts ? Math.min(operation.reverts + Number(isNew), most) : 0;
        // Before its deadline, only a payment that was never in a transaction can be marked as failed here. For
        // deposits and withdrawals the resolver checks the chain first.
        const cannotLand = count >= MAX_REVERTS && operation.txHash === undefined && operation.kind === "payment";
        if (cannotLand) {
          await operations.ended(operation.id, "failed", reason);
          failed.add(operation);
        } else {
          const pause = FIRST_RETRY_MS * 2 ** Math.min(count, 5);
          // A new block decides whether it succeeds, or who used its authorization.
          const waits = reverts || reason === AUTHORIZATION_USED;
          const retryAt = clock() + (waits ? Math.max(pause, config.blockSeconds * 1000) : pause);
          await operations.deferred(operation.id, reason, count, retryAt, reverts ? head.number : undefined);
        }
      }
    });
    for (const { operation, reason } of deferred) {
      const { id, kind } = operation;
      if (failed.has(operation)) {
        metrics.count("relayer_failed_total", 1, { kind, reason });
        log.info({ id, kind, state: "failed", reason }, `${kind} failed`);
      } else {
        metrics.count("relayer_errors_total", 1, { code: reason });
        log.warn({ id, kind, reason }, "deferred: it would not succeed now");
      }
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

const gasOf = (limit: bigint | undefined) => (limit === undefined ? {} : { gas: toQuantity(limit) });

const isEarly = ({ kind, call }: Operation, { head }: Round): boolean =>
  kind === "deposit" && Number((call as DepositCall).validAfter) >= head.timestamp;

/** A spent note does not count as a revert: the events show whether this same withdrawal spent it. */
function refusal(operation: Operation, data: string): Deferred {
  const reason = revertReason(data);
  return { operation, reason, reverts: reason !== "REVERTED_NULLIFIER_ALREADY_SPENT" };
}

/** The reason code for each outcome of a payment that the contract skips. */
const SKIPPED: Readonly<Record<string, string>> = {
  NullifierSpent: "NULLIFIER_SPENT",
  Expired: "EXPIRED",
  UnknownRoot: "UNKNOWN_ROOT",
};
