import { CallReverted, type ChainNode, type Receipt } from "@sotto/chain";
import type { Operation, OutboxTransaction } from "../store/index.ts";
import { atHead, receiptsOf } from "./chain-reads.ts";
import { latestTime, MAX_REVERTS, type RelayerContext, type Round } from "./context.ts";
import type { Sender } from "./sender.ts";

/** A transaction that its account cannot replace is given up after this many times `stuckAfter`. */
const GIVEN_UP_AFTER = 2;

/** Tracks the relayer's transactions until each is final or dropped. */
export class Tracker {
  readonly #context: RelayerContext;
  readonly #sender: Sender;
  readonly #onAppendMined: (succeeded: boolean) => void;

  /** @param onAppendMined called for each append that is in a block, with whether it executed without a revert */
  constructor(context: RelayerContext, sender: Sender, onAppendMined: (succeeded: boolean) => void) {
    this.#context = context;
    this.#sender = sender;
    this.#onAppendMined = onAppendMined;
  }

  /** @param operations all broadcast operations */
  async track(round: Round, operations: readonly Operation[]): Promise<void> {
    const { chain, store } = this.#context;
    const open = await store.outbox.open();
    const counts = await this.#countsOf(open, round);
    // Only a nonce below the account's count can be in a block.
    const asked = open
      .filter(({ sender, nonce }) => nonce < counts.get(sender)!)
      .flatMap(({ attempts }) => attempts.map(({ hash }) => hash));
    const receipts = await receiptsOf(chain, asked, round);
    const isLost = this.#lostNonces(counts, round);
    for (const transaction of open) {
      const carried = operations.filter(({ transactionId }) => transactionId === transaction.id);
      const receipt = receiptAmong(transaction, receipts, round);
      if (receipt !== undefined) await this.#mined(transaction, receipt, carried, round);
      else await this.#waiting(transaction, carried, round, isLost, followsAppend(transaction, open));
    }
    await this.#adoptOrphans(open, operations, round);
    await this.#fillGaps(open, counts, round);
  }

  /** How many transactions of each sender are mined, as of the newest block. */
  async #countsOf(open: readonly OutboxTransaction[], round: Round): Promise<Map<string, number>> {
    const senders = [...new Set(open.map(({ sender }) => sender))];
    if (senders.length === 0) return new Map();
    const count = async (node: ChainNode, sender: string) => [sender, await node.transactionCount(sender)] as const;
    const read = (node: ChainNode) => Promise.all(senders.map((sender) => count(node, sender)));
    return new Map(await atHead(this.#context.chain, round, read));
  }

  /**
   * Queues operations again if their transaction is no longer tracked (after a reorganization removed another sender's
   * transaction).
   */
  async #adoptOrphans(open: readonly OutboxTransaction[], operations: readonly Operation[], { lease }: Round) {
    const { store, clock } = this.#context;
    const followed = new Set(open.map(({ id }) => id));
    const orphans = operations.filter(
      ({ state, transactionId }) => state === "broadcast" && !followed.has(transactionId ?? ""),
    );
    if (orphans.length === 0) return;
    const spends = await store.ledger.spends(orphans.flatMap(({ nullifiers }) => nullifiers));
    const lost = orphans.filter(({ nullifiers }) => !nullifiers.some((nullifier) => spends.has(nullifier)));
    await store.asRelayer(lease, async (writes) => {
      for (const { id, reason } of lost) await writes.operations.requeue(id, reason ?? null, clock());
    });
  }

  async #mined(
    transaction: OutboxTransaction,
    receipt: Receipt,
    carried: readonly Operation[],
    { lease, confirmedNumber }: Round,
  ): Promise<void> {
    const { store, clock, metrics, log, tracing } = this.#context;
    const { blockNumber, blockHash, succeeded, gasUsed, gasPrice, transactionHash } = receipt;
    const estimated = transaction.attempts.find(({ hash }) => hash === transactionHash)?.dataFee ?? 0n;
    const cost = gasUsed * gasPrice + (receipt.dataFee ?? estimated);
    const isNew = transaction.state !== "mined" || transaction.blockHash !== blockHash;
    const final = blockNumber <= confirmedNumber;
    const spends = await store.ledger.spends(carried.flatMap(({ nullifiers }) => nullifiers));
    const isSpent = ({ nullifiers }: Operation) => nullifiers.some((nullifier) => spends.has(nullifier));
    // A payment that the contract skipped, or that reverted with its batch, is sent again. If a reorganization executes
    // the first transaction after all, the nullifier still ensures that the payment happens only once. A deposit or
    // withdrawal is not sent again, because each try costs gas. Once its revert is final, the resolver marks it as
    // failed.
    const undone = carried.filter((operation) =>
      operation.kind === "payment" ? !isSpent(operation) : final && !succeeded && !isSpent(operation),
    );
    if (!isNew && !final && undone.length === 0) return;
    const place = { number: blockNumber, hash: blockHash };
    await store.asRelayer(lease, async ({ outbox, operations }) => {
      if (isNew) await outbox.mined(transaction.id, transactionHash, place, succeeded, cost);
      for (const { id, kind } of undone) {
        const reverts = kind === "payment" ? undefined : MAX_REVERTS;
        await operations.requeue(id, succeeded ? "SKIPPED" : "REVERTED", clock(), reverts);
      }
      if (final) await outbox.final(transaction.id);
    });
    for (const { kind, trace: parent, updatedAt: at } of isNew ? carried : [])
      if (parent !== undefined)
        tracing
          .begin("mined", { parent, at })
          .end({ "sotto.kind": kind, "sotto.transaction": transactionHash, "sotto.block": blockNumber });
    if (isNew && transaction.kind === "append") this.#onAppendMined(succeeded);
    if (isNew) metrics.count("relayer_gas_wei_total", Number(cost), { kind: transaction.kind });
    if (isNew) log.info({ hash: transactionHash, blockNumber, succeeded, undone: undone.length }, "transaction mined");
  }

  async #waiting(
    transaction: OutboxTransaction,
    carried: readonly Operation[],
    round: Round,
    isLost: (transaction: OutboxTransaction) => Promise<boolean>,
    followsAppend: boolean,
  ): Promise<void> {
    const { store, clock, config, log } = this.#context;
    const { id, sender, nonce, state, attempts } = transaction;
    if (state === "mined") await store.asRelayer(round.lease, ({ outbox }) => outbox.unmined(id));
    if (await isLost(transaction)) {
      log.warn({ sender, nonce, hash: attempts.at(-1)?.hash }, "another transaction used the nonce");
      await store.asRelayer(round.lease, ({ outbox }) => outbox.dropped(id));
      return;
    }
    const newest = attempts.at(-1)!;
    if (clock() - newest.createdAt >= config.stuckAfter || this.#sender.isUnderpriced(newest.hash)) {
      const cancel =
        transaction.kind === "cancel" || (!followsAppend && (await this.#isPointless(transaction, carried, round)));
      if (await this.#sender.replace(transaction, round, cancel)) return;
      if (this.#isGivenUp(transaction)) {
        log.warn({ sender, nonce, hash: newest.hash }, "given up, because its account cannot replace it");
        await store.asRelayer(round.lease, ({ outbox }) => outbox.dropped(id));
        return;
      }
    }
    if (newest.sentAt === undefined || clock() - newest.sentAt >= config.rebroadcastAfter)
      await this.#sender.broadcast(newest, round);
  }

  /**
   * Creates a function that checks whether a confirmed block contains another transaction with the nonce of one in the outbox.
   * Call it only for transactions that are not mined.
   * @param counts how many transactions of each sender are mined, as of the newest block
   */
  #lostNonces(
    counts: ReadonlyMap<string, number>,
    { confirmedNumber, head }: Round,
  ): (transaction: OutboxTransaction) => Promise<boolean> {
    const { chain } = this.#context;
    const at = Math.min(confirmedNumber, head.number);
    const confirmed = new Map<string, Promise<number>>();
    return async ({ sender, nonce }) => {
      if (counts.get(sender)! <= nonce || at < 0) return false;
      const count = confirmed.get(sender) ?? chain.transactionCount(sender, at);
      confirmed.set(sender, count);
      return (await count) > nonce;
    };
  }

  /**
   * Whether it has waited for long, and its account cannot replace it: the account was removed, or its signer fails. Its
   * operations are then sent by another account. If it is mined after all, the contract still executes each of them once.
   */
  #isGivenUp({ sender, attempts }: OutboxTransaction): boolean {
    const { accounts, clock, config } = this.#context;
    const account = accounts.find(sender);
    const cannotSign = account === undefined || account.fault !== undefined;
    return (
      cannotSign &&
      accounts.hasOther(sender) &&
      clock() - attempts.at(-1)!.createdAt >= GIVEN_UP_AFTER * config.stuckAfter
    );
  }

  /** Whether to replace it by a cancellation, because it can no longer succeed. */
  async #isPointless(transaction: OutboxTransaction, carried: readonly Operation[], round: Round): Promise<boolean> {
    const { chain, accounts } = this.#context;
    const time = latestTime(this.#context, round);
    if (transaction.kind !== "append" && carried.every(({ validUntil }) => validUntil < time)) return true;
    try {
      // Its sender may have no ETH (any more), and some nodes then refuse the call.
      const call = { from: accounts.caller.address, to: transaction.to, data: transaction.data };
      await atHead(chain, round, (node) => node.call(call));
      return false;
    } catch (error) {
      if (error instanceof CallReverted) return true;
      throw error;
    }
  }

  /** Fills, for each account, a nonce below those of waiting transactions, which would otherwise wait forever. */
  async #fillGaps(
    open: readonly OutboxTransaction[],
    counts: ReadonlyMap<string, number>,
    round: Round,
  ): Promise<void> {
    for (const account of this.#context.accounts.all) {
      const own = open.filter(({ sender, state }) => sender === account.address && state === "sent");
      if (own.length === 0 || account.isPaused) continue;
      const next = await this.#sender.nextNonce(account, round, counts.get(account.address));
      if (next < Math.max(...own.map(({ nonce }) => nonce))) await this.#sender.fill(account, round);
    }
  }
}

/** Whether it is an append that can only succeed after one that is not mined yet, so that simulating it says nothing. */
const followsAppend = ({ kind, sender, nonce }: OutboxTransaction, open: readonly OutboxTransaction[]): boolean =>
  kind === "append" &&
  open.some((other) => {
    const isBefore = other.sender === sender && other.nonce < nonce;
    return other.kind === "append" && other.state === "sent" && isBefore;
  });

/** The receipt of the signed version that is in a block the follower has read. */
function receiptAmong(
  { attempts }: OutboxTransaction,
  receipts: ReadonlyMap<string, Receipt>,
  { head }: Round,
): Receipt | undefined {
  const found = attempts.flatMap(({ hash }) => receipts.get(hash) ?? []);
  return found.findLast(({ blockNumber }) => blockNumber <= head.number);
}
