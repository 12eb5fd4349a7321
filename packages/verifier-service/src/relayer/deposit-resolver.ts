import type { Receipt } from "@sotto/chain";
import { poolInterface } from "@sotto/chain/ethers";
import type { DepositCall } from "@sotto/protocol";
import type { Operation } from "../store/index.ts";
import { AuthorizationSearch } from "./authorization-search.ts";
import { areUsed, receiptsOf } from "./chain-reads.ts";
import type { RelayerContext, Round } from "./context.ts";
import { AUTHORIZATION_USED, checkFailure, type FinalOutcome, Rotation } from "./final-outcome.ts";

type Resolved = [Operation, FinalOutcome];

const SPENT: FinalOutcome = { state: "failed", reason: "AUTHORIZATION_SPENT" };

/**
 * Decides the outcome of deposits. A deposit is identified by its authorization, whose nonce commits to the notes. Only
 * deposits that are in a transaction, were found to be used, or are about to fail or expire are checked on chain: anyone can
 * sign worthless authorizations, and a round must not wait for a request about each.
 */
export class DepositResolver {
  readonly #context: RelayerContext;
  readonly #search: AuthorizationSearch;
  readonly #rotation = new Rotation();

  constructor(context: RelayerContext) {
    this.#context = context;
    this.#search = new AuthorizationSearch(context);
  }

  async resolve(deposits: readonly Operation[], round: Round): Promise<Resolved[]> {
    const { chain } = this.#context;
    const all = deposits.flatMap((operation) => {
      const outcome = checkFailure(this.#context, operation, round);
      const isUsed = operation.reason === AUTHORIZATION_USED;
      return operation.state === "broadcast" || isUsed || outcome ? [{ operation, outcome }] : [];
    });
    const asked = this.#rotation.take(all);
    const receipts = await receiptsOf(
      chain,
      asked.flatMap(({ operation: { txHash } }) => txHash ?? []),
      round,
    );
    const ours = ({ operation }: (typeof asked)[number]) => {
      const receipt = receipts.get(operation.txHash ?? "");
      return receipt && this.#isDepositedIn(operation, receipt) ? receipt : undefined;
    };
    const resolved: Resolved[] = asked.flatMap((entry) => {
      const receipt = ours(entry);
      return receipt && isConfirmed(receipt, round) ? [[entry.operation, this.#settled(entry.operation, receipt)]] : [];
    });
    const others = asked.filter((entry) => ours(entry) === undefined);
    const used = await areUsed(
      this.#context,
      others.map(({ operation }) => operation),
      round,
    );
    const unused = others.filter((_, index) => !used[index]);
    for (const { operation, outcome } of unused) if (outcome) resolved.push([operation, outcome]);
    const elsewhere = others.filter((_, index) => used[index]).map(({ operation }) => operation);
    return [...resolved, ...(await this.#usedElsewhere(elsewhere, round))];
  }

  /** Resolves deposits whose authorization another transaction used: a deposit by someone else, or a cancellation. */
  async #usedElsewhere(operations: readonly Operation[], round: Round): Promise<Resolved[]> {
    const found = await this.#search.find(operations, round);
    return operations.flatMap((operation): Resolved[] => {
      const use = found.get(operation.id);
      if (use === "unknown") {
        // It was used long ago, mostly before this deposit was queued. If the deposit stayed queued, each round would search again.
        const outcome = operation.state === "queued" ? SPENT : checkFailure(this.#context, operation, round);
        return outcome ? [[operation, outcome]] : [];
      }
      if (use === undefined || !isConfirmed(use, round)) return [];
      if (this.#isDepositedIn(operation, use)) return [[operation, this.#settled(operation, use)]];
      return [[operation, SPENT]];
    });
  }

  #isDepositedIn({ call }: Operation, { logs }: Receipt): boolean {
    const { pool } = this.#context;
    const tags = new Set<string>();
    for (const entry of logs) {
      const event = entry.address === pool.pool ? poolInterface.parseLog(entry) : null;
      if (event?.name === "Deposited") tags.add(String(event.args["ownerTag"]));
    }
    return (call as DepositCall).ownerTags.every((tag) => tags.has(tag));
  }

  #settled({ txHash }: Operation, { transactionHash, blockNumber, from }: Receipt): FinalOutcome {
    // Another transaction of the relayer may have settled it: one that was given up.
    const ours = transactionHash === txHash || this.#context.accounts.find(from) !== undefined;
    return { state: "settled", txHash: transactionHash, blockNumber, ours, gasPaidBy: from };
  }
}

const isConfirmed = ({ blockNumber }: Receipt, { confirmedNumber }: Round): boolean => blockNumber <= confirmedNumber;
