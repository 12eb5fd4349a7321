import { randomUUID } from "node:crypto";
import { quoted } from "@sotto/protocol";
import { keccak256 } from "ethers";
import { SIGNER_ERRORS } from "../error-definitions.ts";
import { SignerError, type SignerErrorCode } from "../signer/index.ts";
import {
  dayOf,
  type NewAttempt,
  type Operation,
  type OutboxTransaction,
  type TransactionKind,
} from "../store/index.ts";
import type { Account } from "./account.ts";
import type { NoAccount } from "./accounts.ts";
import { atHead } from "./chain-reads.ts";
import type { RelayerContext, Round } from "./context.ts";
import type { Fees } from "./fees.ts";

/** A transaction to send. */
export interface Plan {
  kind: TransactionKind;
  to: string;
  data: string;
  gasLimit: bigint;
  operationIds: readonly string[];
  /** Those of the operations whose requests are traced. */
  traced?: readonly Pick<Operation, "kind" | "trace" | "createdAt">[] | undefined;
}

export type SendResult = "sent" | "FEES_TOO_HIGH" | "GAS_BUDGET_EXHAUSTED" | "QUOTA_EXCEEDED" | NoAccount;

/** Gas of a transfer to an account without code, where gas pays for execution only. */
const TRANSFER_GAS = 21_000n;
/**
 * Depositing and merging the same funds again and again is free for a client, so deposits and withdrawals may use at
 * most half of a day's budget.
 */
const FREE: readonly TransactionKind[] = ["deposit", "withdraw"];

/** Signs, stores and sends transactions in this order, so that after a crash the store knows everything that may be sent. */
export class Sender {
  readonly #context: RelayerContext;
  /** Hashes of attempts that no node accepted for their priority fee, while a higher one is within the caps. */
  readonly #underpriced = new Set<string>();

  constructor(context: RelayerContext) {
    this.#context = context;
  }

  /** Sends a new transaction from one of the accounts. If the signer of one fails, the next one sends it. */
  async send(plan: Plan, round: Round): Promise<SendResult> {
    const { accounts, market, store } = this.#context;
    const fees = await market.current(round.head);
    if (fees === undefined) return "FEES_TOO_HIGH";
    const cost = plan.gasLimit * fees.maxFee;
    const failed = new Set<Account>();
    for (;;) {
      const account = await accounts.choose(plan.kind, cost, await store.outbox.summaries(), round, failed);
      if (typeof account === "string") return account;
      const result = await this.#sendFrom(account, plan, fees, round);
      if (!isSignerError(result)) return result;
      failed.add(account);
    }
  }

  /** The most gas that one account can pay for in a transaction of this kind. */
  async payableGas(kind: TransactionKind, round: Round): Promise<bigint> {
    const { accounts, market, store } = this.#context;
    const fees = await market.current(round.head);
    if (fees === undefined) return 0n;
    return (await accounts.payable(kind, await store.outbox.summaries(), round)) / fees.maxFee;
  }

  /** Sends a new transaction with the lowest free nonce of the account, so that gaps are filled first. */
  async #sendFrom(account: Account, plan: Plan, fees: Fees, round: Round): Promise<SendResult> {
    const { store, config, metrics, clock, log, tracing } = this.#context;
    const { address: sender } = account;
    const day = dayOf(clock());
    const budget = FREE.includes(plan.kind) ? config.gasBudgetPerDay / 2n : config.gasBudgetPerDay;
    const total = (await store.gasToday()) + plan.gasLimit * fees.maxFee;
    // Checked before signing, because a remote signer would sign in vain. The fee for data is known only afterwards.
    if (total > budget) return "GAS_BUDGET_EXHAUSTED";
    const nonce = await this.nextNonce(account, round);
    const attempt = await this.#sign(account, plan, nonce, fees);
    if (typeof attempt === "string") return attempt;
    if (total + attempt.dataFee > budget) return "GAS_BUDGET_EXHAUSTED";
    const { operationIds, traced = [], ...rest } = plan;
    const id = randomUUID();
    const exceeded = await store.asRelayer(round.lease, ({ outbox }) =>
      outbox.record({ ...rest, id, sender, nonce, day }, attempt, operationIds),
    );
    if (exceeded !== undefined) return "QUOTA_EXCEEDED";
    metrics.count("relayer_transactions_total", 1, { kind: plan.kind });
    for (const { kind, trace: parent, createdAt: at } of traced)
      tracing.begin("queued", { parent, at }).end({ "sotto.kind": kind, "sotto.transaction": attempt.hash });
    const { length: operations } = operationIds;
    log.info({ kind: plan.kind, sender, nonce, hash: attempt.hash, operations }, "transaction stored");
    await this.broadcast(attempt, round);
    return "sent";
  }

  /** Sends a stored transaction to the nodes. If none accepts it, it is sent again later. */
  async broadcast({ hash, raw }: Pick<NewAttempt, "hash" | "raw">, { lease, head }: Round): Promise<void> {
    const { chain, store, log, market } = this.#context;
    const { accepted, refusal, lowestTip } = await chain.broadcast(raw);
    if (!accepted) log.warn({ hash, refusal: quoted(refusal) }, "no node accepted the transaction");
    if (lowestTip !== undefined) {
      market.requireTip(lowestTip);
      const fees = await market.current(head);
      if (fees !== undefined && fees.maxPriority >= lowestTip) this.#underpriced.add(hash);
    }
    await store.asRelayer(lease, ({ outbox }) => outbox.sent(hash));
  }

  /** Whether a replacement would be accepted now: no node has this attempt, because its priority fee was too low. */
  isUnderpriced(hash: string): boolean {
    return this.#underpriced.has(hash);
  }

  /**
   * Replaces a transaction that is not mined by one with the same nonce and higher fees, which does the same or nothing.
   * @returns false if that exceeds the fee cap or the rest of the day's budget, or if its account cannot sign it
   */
  async replace(old: OutboxTransaction, round: Round, cancel: boolean): Promise<boolean> {
    const { accounts, market, config, store, metrics, log } = this.#context;
    const account = accounts.find(old.sender);
    if (account === undefined || account.isPaused) return false;
    const fees = await market.replacement(dearest(old), round.head);
    if (fees === undefined) return false;
    const more = old.gasLimit * (fees.maxFee - dearest(old).maxFee);
    // A cancellation costs little and consumes the nonce, which all later transactions wait for.
    if (!cancel && (await store.gasToday()) + more > config.gasBudgetPerDay) return false;
    const nothing = cancel ? await this.#nothing(account) : undefined;
    const attempt = await this.#sign(account, nothing ?? old, old.nonce, fees);
    if (typeof attempt === "string") return false;
    await store.asRelayer(round.lease, ({ outbox }) => outbox.replace(old.id, attempt, nothing));
    for (const { hash } of old.attempts) this.#underpriced.delete(hash);
    metrics.count("relayer_replacements_total", 1, { kind: cancel ? "cancel" : old.kind });
    log.warn(
      { nonce: old.nonce, hash: attempt.hash, cancel, maxFee: String(fees.maxFee) },
      "stuck transaction replaced",
    );
    await this.broadcast(attempt, round);
    return true;
  }

  /** Consumes a nonce of the account that its later transactions wait for. */
  async fill(account: Account, round: Round): Promise<SendResult> {
    const fees = await this.#context.market.current(round.head);
    if (fees === undefined) return "FEES_TOO_HIGH";
    return this.#sendFrom(account, await this.#nothing(account), fees, round);
  }

  /** A transaction that only consumes a nonce. */
  async #nothing({ address }: Account): Promise<Plan> {
    const { market } = this.#context;
    const gasLimit = TRANSFER_GAS + (await market.dataGas(address, "0x"));
    return { kind: "cancel", to: address, data: "0x", gasLimit, operationIds: [] };
  }

  /**
   * The lowest nonce, starting at the account's count, that no live transaction in the store uses.
   * @param count the account's count, if it was read in this round
   */
  async nextNonce({ address }: Account, round: Round, count?: number): Promise<number> {
    const { chain, store } = this.#context;
    let nonce = count ?? (await atHead(chain, round, (node) => node.transactionCount(address)));
    const used = await store.outbox.nonces(address, nonce);
    while (used.has(nonce)) nonce += 1;
    return nonce;
  }

  /** @returns the signed transaction, or the code of the signer's failure: it is asked again later, and nothing is lost */
  async #sign(
    account: Account,
    { to, data, gasLimit }: Pick<Plan, "to" | "data" | "gasLimit">,
    nonce: number,
    { maxFee: maxFeePerGas, maxPriority: maxPriorityFeePerGas }: Fees,
  ): Promise<Required<NewAttempt> | SignerErrorCode> {
    const { pool, market } = this.#context;
    const fees = { maxFeePerGas, maxPriorityFeePerGas };
    const transaction = { type: 2, chainId: pool.chainId, nonce, to, data, value: 0n, gasLimit, ...fees } as const;
    let raw: string;
    try {
      raw = await account.sign(transaction);
    } catch (error) {
      if (error instanceof SignerError) return error.code;
      throw error;
    }
    return {
      hash: keccak256(raw),
      raw,
      maxFee: maxFeePerGas,
      maxPriority: maxPriorityFeePerGas,
      dataFee: await market.dataFee(raw),
    };
  }
}

const isSignerError = (result: SendResult): result is SignerErrorCode => Object.hasOwn(SIGNER_ERRORS, result);

function dearest({ attempts }: OutboxTransaction): Fees {
  const { maxFee, maxPriority } = attempts.at(-1)!;
  return { maxFee, maxPriority };
}
