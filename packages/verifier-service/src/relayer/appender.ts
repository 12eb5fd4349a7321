import { CallReverted, ChainError, poolViews, proveAppend } from "@sotto/chain";
import { appendCall } from "@sotto/chain/ethers";
import { MAX_APPEND_LEAVES, NoteTree, parseAddress } from "@sotto/protocol";
import { latestTime, type RelayerContext, type Round } from "./context.ts";
import { codeOf } from "./errors.ts";
import type { Sender } from "./sender.ts";
import type { AppendProver } from "./types.ts";

/** A proved append. It is valid only while the tree does not change. */
interface Proved {
  data: string;
  /** Leaves in the tree before the append. */
  start: number;
}

/** Pause after a failed proof or a failed transaction, ms. */
const PAUSE_MS = 5_000;
/** Leaves read from the store at once. */
const PAGE = 10_000;

/**
 * Moves queued notes into the tree. A proof takes seconds, so it is made while the rounds continue, and is checked again before
 * it is sent. Anyone may append: if another sender appends first, only the proof is lost.
 */
export class Appender {
  readonly #context: RelayerContext;
  readonly #sender: Sender;
  readonly #prover: AppendProver;
  readonly #tree = new NoteTree();
  #proving: Promise<void> | undefined;
  #proved: Proved | undefined;
  #pausedUntil = 0;

  constructor(context: RelayerContext, sender: Sender, prover: AppendProver) {
    this.#context = context;
    this.#sender = sender;
    this.#prover = prover;
  }

  /** @returns whether an append was sent or a proof was started */
  async append(round: Round, onProved: () => void): Promise<boolean> {
    const { store, log } = this.#context;
    if (this.#proving !== undefined) return false;
    if ((await store.outbox.open()).some(({ kind, state }) => kind === "append" && state === "sent")) return false;
    const appended = (await store.ledger.lastAppend())?.size ?? 0;
    const proved = this.#proved;
    this.#proved = undefined;
    if (proved?.start === appended) {
      if (this.#context.clock() < this.#pausedUntil) {
        this.#proved = proved;
        return false;
      }
      const result = await this.#send(proved, round).catch((error: unknown) => {
        // Keeps the proof, because it took seconds, and retries after a pause.
        this.#proved = proved;
        this.#pausedUntil = this.#context.clock() + PAUSE_MS;
        throw error;
      });
      // The gas price or the budget does not allow it now, so the proof is kept.
      if (result === "later") this.#proved = proved;
      if (result !== "stale") return result === "sent";
    }
    if (this.#context.clock() < this.#pausedUntil || !(await this.#isTime(appended, round))) return false;
    this.#proving = this.#prove(appended, round)
      .catch((error: unknown) => {
        this.#pausedUntil = this.#context.clock() + PAUSE_MS;
        log.warn({ code: codeOf(error) }, "the append could not be proved");
      })
      .finally(() => {
        this.#proving = undefined;
        onProved();
      });
    return true;
  }

  /** Waits for the proof in progress. */
  async settle(): Promise<void> {
    await this.#proving;
  }

  /** Discards the proof and the leaves that a reorganization removed. */
  async reorganized(): Promise<void> {
    const left = await this.#context.store.ledger.leafCount();
    this.#tree.truncate(Math.min(this.#tree.size, left));
    this.#proved = undefined;
  }

  async #isTime(appended: number, round: Round): Promise<boolean> {
    const { store, config, chain, metrics } = this.#context;
    const queued = (await store.ledger.leafCount()) - appended;
    metrics.gauge("relayer_queued_notes", queued);
    if (queued === 0) return false;
    if (queued >= MAX_APPEND_LEAVES || config.appendAfter === 0) return true;
    const [oldest] = await store.ledger.leaves(appended, 1);
    const block = oldest && (await chain.block(oldest.block_number));
    return block !== undefined && (latestTime(this.#context, round) - block.timestamp) * 1000 >= config.appendAfter;
  }

  async #send({ data }: Proved, round: Round): Promise<"sent" | "stale" | "later"> {
    const { chain, address, pool, log } = this.#context;
    try {
      const gas = await chain.estimateGas({ from: address, to: pool.pool, data });
      const plan = { kind: "append" as const, to: pool.pool, data, gasLimit: gas + gas / 4n, operationIds: [] };
      return (await this.#sender.send(plan, round)) === "sent" ? "sent" : "later";
    } catch (error) {
      if (!(error instanceof CallReverted)) throw error;
      log.debug({ data: error.data.slice(0, 10) }, "another sender appended these notes first");
      return "stale";
    }
  }

  async #prove(appended: number, { head }: Round): Promise<void> {
    const { store, chain, pool } = this.#context;
    const start = await poolViews(chain, parseAddress(pool.pool)).queue(head.number);
    // The contract's state is newer than the events that were read. The next round reads both again.
    if (start.appended !== appended) return;
    const rows = await store.ledger.leaves(appended, 3 * MAX_APPEND_LEAVES);
    const queue = rows.map((row) => ({ leaf: BigInt(row.commitment), blockNumber: row.block_number }));
    const append = await proveAppend({
      chain,
      chainId: pool.chainId,
      pool: pool.pool,
      start,
      queue,
      prover: this.#prover,
      tree: () => this.#treeAt(appended),
    });
    if (append === undefined) return;
    this.#proved = { data: appendCall(pool.pool, append).data, start: appended };
  }

  /** The tree with its first `size` leaves, checked against the contract's root. */
  async #treeAt(size: number): Promise<NoteTree> {
    const { store } = this.#context;
    const tree = this.#tree;
    tree.truncate(Math.min(tree.size, size));
    while (tree.size < size) {
      const rows = await store.ledger.leaves(tree.size, Math.min(PAGE, size - tree.size));
      if (rows[0]?.leaf_index !== tree.size) throw new ChainError("NODE_INCONSISTENT", `leaf ${tree.size} is missing`);
      tree.append(rows.map(({ commitment }) => BigInt(commitment)));
    }
    const last = await store.ledger.lastAppend();
    if (last !== undefined && last.size === size && String(tree.root) !== last.root) {
      tree.truncate(0);
      throw new ChainError("NODE_INCONSISTENT", "the root of the leaves that were read differs from the contract's");
    }
    return tree;
  }
}
