import type { Operation, OutboxTransaction } from "../store/index.ts";
import type { Receipt } from "./chain/values.ts";
import { latestTime, type RelayerContext, type Round } from "./context.ts";
import { CallReverted } from "./errors.ts";
import type { Sender } from "./sender.ts";

/** Follows the relayer's own transactions until each is final or its nonce is lost. */
export class Tracker {
  readonly #context: RelayerContext;
  readonly #sender: Sender;

  constructor(context: RelayerContext, sender: Sender) {
    this.#context = context;
    this.#sender = sender;
  }

  /** @param operations those that are not over */
  async track(round: Round, operations: readonly Operation[]): Promise<void> {
    const open = await this.#context.store.outbox.open();
    for (const transaction of open) {
      const carried = operations.filter(({ transactionId }) => transactionId === transaction.id);
      const receipt = await this.#receipt(transaction, round);
      if (receipt !== undefined) await this.#mined(transaction, receipt, carried, round);
      else await this.#waiting(transaction, carried, round);
    }
    await this.#adoptOrphans(open, operations, round);
    await this.#fillGap(open, round);
  }

  /** What a transaction carried that is no longer followed (a reorganisation undid another's) is sent again. */
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

  /** Of whichever signed form is in a block that the follower has read. */
  async #receipt({ attempts }: OutboxTransaction, { head }: Round): Promise<Receipt | undefined> {
    for (const { hash } of attempts.toReversed()) {
      const receipt = await this.#context.chain.receipt(hash);
      if (receipt !== undefined && receipt.blockNumber <= head.number) return receipt;
    }
    return undefined;
  }

  async #mined(
    transaction: OutboxTransaction,
    receipt: Receipt,
    carried: readonly Operation[],
    { lease, confirmedNumber }: Round,
  ): Promise<void> {
    const { store, clock, metrics, log } = this.#context;
    const { blockNumber, blockHash, succeeded, gasUsed, gasPrice, transactionHash } = receipt;
    const isNew = transaction.state !== "mined" || transaction.blockHash !== blockHash;
    const final = blockNumber <= confirmedNumber;
    const spends = await store.ledger.spends(carried.flatMap(({ nullifiers }) => nullifiers));
    // What it did not do (reverted, or left out by the contract) is looked at afresh. Should a reorganisation let it
    // happen after all, the nullifier still makes it happen once.
    const undone = carried.filter(({ kind, nullifiers }) =>
      kind === "deposit" ? !succeeded : !nullifiers.some((nullifier) => spends.has(nullifier)),
    );
    if (!isNew && !final && undone.length === 0) return;
    const place = { number: blockNumber, hash: blockHash };
    await store.asRelayer(lease, async ({ outbox, operations }) => {
      if (isNew) await outbox.mined(transaction.id, transactionHash, place, succeeded, gasUsed * gasPrice);
      for (const { id } of undone) await operations.requeue(id, succeeded ? "SKIPPED" : "REVERTED", clock());
      if (final) await outbox.final(transaction.id);
    });
    if (isNew) metrics.count("relayer_gas_wei_total", Number(gasUsed * gasPrice), { kind: transaction.kind });
    if (isNew) log.info({ hash: transactionHash, blockNumber, succeeded, undone: undone.length }, "transaction mined");
  }

  async #waiting(transaction: OutboxTransaction, carried: readonly Operation[], round: Round): Promise<void> {
    const { store, clock, config, log } = this.#context;
    const { id, nonce, state, attempts } = transaction;
    if (state === "mined") await store.asRelayer(round.lease, ({ outbox }) => outbox.unmined(id));
    if (await this.#nonceLost(nonce, round)) {
      log.warn({ nonce, hash: attempts.at(-1)?.hash }, "another transaction took the nonce");
      await store.asRelayer(round.lease, ({ outbox }) => outbox.dropped(id));
      return;
    }
    const newest = attempts.at(-1)!;
    if (clock() - newest.createdAt >= config.stuckAfter) {
      const cancel = transaction.kind === "cancel" || (await this.#isPointless(transaction, carried, round));
      if (await this.#sender.replace(transaction, round, cancel)) return;
    }
    if (newest.sentAt === undefined || clock() - newest.sentAt >= config.rebroadcastAfter)
      await this.#sender.broadcast(newest, round);
  }

  /** Whether the account has moved past a nonce of which no signed form of ours is mined, with confirmations. */
  async #nonceLost(nonce: number, { confirmedNumber, head }: Round): Promise<boolean> {
    const { chain, address } = this.#context;
    if ((await chain.transactionCount(address)) <= nonce) return false;
    const at = Math.min(confirmedNumber, head.number);
    return at >= 0 && (await chain.transactionCount(address, at)) > nonce;
  }

  /** Whether it is better to send nothing in its place: nothing of it can succeed any more. */
  async #isPointless(transaction: OutboxTransaction, carried: readonly Operation[], round: Round): Promise<boolean> {
    const { chain, address } = this.#context;
    const time = latestTime(this.#context, round);
    if (transaction.kind !== "append" && carried.every(({ validUntil }) => validUntil < time)) return true;
    try {
      await chain.estimateGas({ from: address, to: transaction.to, data: transaction.data });
      return false;
    } catch (error) {
      if (error instanceof CallReverted) return true;
      throw error;
    }
  }

  /** A nonce below all that wait, which nothing of ours has: what is behind it would wait for ever. */
  async #fillGap(open: readonly OutboxTransaction[], round: Round): Promise<void> {
    const waiting = open.filter(({ state }) => state === "sent").map(({ nonce }) => nonce);
    if (waiting.length === 0) return;
    const next = await this.#sender.nextNonce();
    if (next < Math.max(...waiting)) await this.#sender.fill(round);
  }
}
