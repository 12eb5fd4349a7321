import { poolInterface } from "@sotto/chain/ethers";
import type { TraceAttributes } from "@sotto/server";
import type { Operation, OperationKind, RelayerWrites, Row } from "../store/index.ts";
import { areTrue, receiptsOf } from "./chain-reads.ts";
import type { RelayerContext, Round } from "./context.ts";
import { DepositResolver } from "./deposit-resolver.ts";
import { checkFailure, type FinalOutcome, Rotation } from "./final-outcome.ts";

type Spends = ReadonlyMap<string, Row<"spends">>;
type Resolved = [Operation, FinalOutcome];

/** Decides from the pool's events which operations are settled and which can no longer succeed. */
export class OutcomeResolver {
  readonly #context: RelayerContext;
  readonly #deposits: DepositResolver;
  readonly #rotation = new Rotation();

  constructor(context: RelayerContext) {
    this.#context = context;
    this.#deposits = new DepositResolver(context);
  }

  /**
   * @param operations open operations
   * @returns those of their nullifiers that are spent on chain
   */
  async resolve(round: Round, operations: readonly Operation[]): Promise<Set<string>> {
    const { store } = this.#context;
    const spends = await store.ledger.spends(operations.flatMap(({ nullifiers }) => nullifiers));
    const spending = operations.filter(({ kind }) => kind !== "deposit");
    const deposits = operations.filter(({ kind }) => kind === "deposit");
    const outcomes = [
      ...(await this.#resolveSpent(spending, spends, round)),
      ...(await this.#resolveFailed(spending, spends, round)),
      ...(await this.#deposits.resolve(deposits, round)),
    ];
    await this.#write(outcomes, round);
    return new Set(spends.keys());
  }

  async #write(outcomes: readonly Resolved[], { lease }: Round): Promise<void> {
    const { store, metrics, log, clock, tracing } = this.#context;
    if (outcomes.length === 0) return;
    await store.asRelayer(lease, async (writes) => {
      for (const [operation, outcome] of outcomes) await write(writes, operation.id, outcome);
    });
    for (const [{ id, kind, createdAt, updatedAt, trace, state }, outcome] of outcomes) {
      // Sent operations change last when their transaction does.
      if (trace !== undefined)
        tracing
          .begin(state === "queued" ? "queued" : "confirmed", {
            parent: trace,
            at: state === "queued" ? createdAt : updatedAt,
          })
          .end(shownOf({ kind, outcome }), outcome.state === "settled" ? undefined : outcome.reason);
      if (outcome.state === "settled") {
        metrics.settledAfter(kind, Math.max(0, clock() - createdAt) / 1000);
        metrics.count("relayer_settled_total", 1, { kind });
        if (!outcome.ours) metrics.count("relayer_front_run_total", 1, { kind });
      } else metrics.count("relayer_failed_total", 1, { kind, reason: outcome.reason });
      log.info({ id, kind, ...outcome }, `${kind} ${outcome.state}`);
    }
  }

  /** Resolves operations with a spent note. The digest of the signals shows whether this same operation spent it. */
  async #resolveSpent(operations: readonly Operation[], spends: Spends, round: Round): Promise<Resolved[]> {
    const shown = operations.flatMap((operation) => {
      const spend = spendOf(operation, spends);
      return spend && spend.block_number <= round.confirmedNumber ? [{ operation, spend }] : [];
    });
    const isSame = ({ operation, spend }: (typeof shown)[number]) => spend.digest === operation.digest;
    const others = shown.filter((found) => isSame(found) && found.spend.tx_hash !== found.operation.txHash);
    const receipts = await receiptsOf(
      this.#context.chain,
      others.map(({ spend }) => spend.tx_hash),
      round,
    );
    return shown.map((found) => {
      const { operation, spend } = found;
      if (!isSame(found)) return [operation, { state: "failed", reason: "NULLIFIER_SPENT" }];
      const place = { txHash: spend.tx_hash, blockNumber: spend.block_number };
      const gasPaidBy = receipts.get(spend.tx_hash)?.from;
      const ours = spend.tx_hash === operation.txHash || this.#context.accounts.find(gasPaidBy ?? "") !== undefined;
      return [operation, { state: "settled", ...place, ours, gasPaidBy }];
    });
  }

  /** Resolves operations whose notes are unspent and that can no longer succeed. */
  async #resolveFailed(operations: readonly Operation[], spends: Spends, round: Round): Promise<Resolved[]> {
    const { chain, pool, log } = this.#context;
    const all = operations.flatMap((operation) => {
      const outcome = spendOf(operation, spends) ? undefined : checkFailure(this.#context, operation, round);
      return outcome ? [{ operation, outcome }] : [];
    });
    const asked = this.#rotation.take(all);
    // Before notes are released, the contract itself must report them as unspent.
    const reads = asked.flatMap(({ operation }) =>
      operation.nullifiers.map((nullifier) => ({
        abi: poolInterface,
        to: pool.pool,
        name: "isSpent",
        values: [nullifier],
        id: operation.id,
      })),
    );
    const answers = await areTrue(chain, reads, round);
    const spent = new Set(reads.filter((_, index) => answers[index]).map(({ id }) => id));
    if (spent.size > 0) log.warn({ ids: [...spent] }, "the contract reports notes as spent, but no event does");
    return asked
      .filter(({ operation }) => !spent.has(operation.id))
      .map(({ operation, outcome }) => [operation, outcome]);
  }
}

const spendOf = ({ nullifiers }: Operation, spends: Spends): Row<"spends"> | undefined =>
  nullifiers.map((nullifier) => spends.get(nullifier)).find((found) => found !== undefined);

async function write({ operations }: RelayerWrites, id: string, outcome: FinalOutcome): Promise<void> {
  if (outcome.state === "settled") await operations.settled(id, outcome);
  else await operations.ended(id, outcome.state, outcome.reason);
}

/** What a trace shows of an outcome. */
const shownOf = ({ kind, outcome }: { kind: OperationKind; outcome: FinalOutcome }): TraceAttributes => ({
  "sotto.kind": kind,
  "sotto.state": outcome.state,
  ...(outcome.state === "settled"
    ? { "sotto.transaction": outcome.txHash, "sotto.block": outcome.blockNumber }
    : { "sotto.reason": outcome.reason }),
});
