import { poolInterface } from "@sotto/chain/ethers";
import type { Operation, RelayerWrites, Row } from "../store/index.ts";
import type { RelayerContext, Round } from "./context.ts";
import { DepositResolver } from "./deposit-resolver.ts";
import { areTrue, receiptsOf } from "./questions.ts";
import { Rotation, type Verdict, verdictUnlessDone } from "./verdict.ts";

type Spends = ReadonlyMap<string, Row<"spends">>;
type Resolved = [Operation, Verdict];

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
   * @returns their nullifiers that are spent on chain
   */
  async resolve(round: Round, operations: readonly Operation[]): Promise<Set<string>> {
    const { store } = this.#context;
    const spends = await store.ledger.spends(operations.flatMap(({ nullifiers }) => nullifiers));
    const spending = operations.filter(({ kind }) => kind !== "deposit");
    const deposits = operations.filter(({ kind }) => kind === "deposit");
    const verdicts = [
      ...(await this.#shown(spending, spends, round)),
      ...(await this.#given(spending, spends, round)),
      ...(await this.#deposits.resolve(deposits, round)),
    ];
    await this.#write(verdicts, round);
    return new Set(spends.keys());
  }

  async #write(verdicts: readonly Resolved[], { lease }: Round): Promise<void> {
    const { store, metrics, log } = this.#context;
    if (verdicts.length === 0) return;
    await store.asRelayer(lease, async (writes) => {
      for (const [operation, verdict] of verdicts) await write(writes, operation.id, verdict);
    });
    for (const [{ id, kind }, verdict] of verdicts) {
      if (verdict.state === "settled") {
        metrics.count("relayer_settled_total", 1, { kind });
        if (!verdict.ours) metrics.count("relayer_front_run_total", 1, { kind });
      } else metrics.count("relayer_failed_total", 1, { kind, reason: verdict.reason });
      log.info({ id, kind, ...verdict }, `${kind} ${verdict.state}`);
    }
  }

  /** Resolves operations with a spent note. The digest of the signals shows whether this same operation spent it. */
  async #shown(operations: readonly Operation[], spends: Spends, round: Round): Promise<Resolved[]> {
    const shown = operations.flatMap((operation) => {
      const spend = spendOf(operation, spends);
      return spend && spend.block_number <= round.confirmedNumber ? [{ operation, spend }] : [];
    });
    const isSame = ({ operation, spend }: (typeof shown)[number]) => spend.digest === operation.digest;
    const others = shown.filter((found) => isSame(found) && found.spend.tx_hash !== found.operation.txHash);
    const receipts = await receiptsOf(
      this.#context.chain,
      others.map(({ spend }) => spend.tx_hash),
    );
    return shown.map((found) => {
      const { operation, spend } = found;
      if (!isSame(found)) return [operation, { state: "failed", reason: "NULLIFIER_SPENT" }];
      const place = { txHash: spend.tx_hash, blockNumber: spend.block_number };
      const ours = spend.tx_hash === operation.txHash;
      const gasPaidBy = ours ? undefined : receipts.get(spend.tx_hash)?.from;
      return [operation, { state: "settled", ...place, ours, gasPaidBy }];
    });
  }

  /** Resolves operations whose notes are unspent and that can no longer succeed. */
  async #given(operations: readonly Operation[], spends: Spends, round: Round): Promise<Resolved[]> {
    const { chain, pool, log } = this.#context;
    const all = operations.flatMap((operation) => {
      const verdict = spendOf(operation, spends) ? undefined : verdictUnlessDone(this.#context, operation, round);
      return verdict ? [{ operation, verdict }] : [];
    });
    const asked = this.#rotation.take(all);
    // Before notes are released, the contract itself must report them as unspent.
    const questions = asked.flatMap(({ operation }) =>
      operation.nullifiers.map((nullifier) => ({
        abi: poolInterface,
        to: pool.pool,
        name: "isSpent",
        values: [nullifier],
        id: operation.id,
      })),
    );
    const answers = await areTrue(chain, questions);
    const spent = new Set(questions.filter((_, index) => answers[index]).map(({ id }) => id));
    if (spent.size > 0) log.warn({ ids: [...spent] }, "the contract reports notes as spent, but no event does");
    return asked
      .filter(({ operation }) => !spent.has(operation.id))
      .map(({ operation, verdict }) => [operation, verdict]);
  }
}

const spendOf = ({ nullifiers }: Operation, spends: Spends): Row<"spends"> | undefined =>
  nullifiers.map((nullifier) => spends.get(nullifier)).find((found) => found !== undefined);

async function write({ operations }: RelayerWrites, id: string, verdict: Verdict): Promise<void> {
  if (verdict.state === "settled") await operations.settled(id, verdict);
  else await operations.ended(id, verdict.state, verdict.reason);
}
