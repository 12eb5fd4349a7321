import {
  CallReverted,
  ChainError,
  NewestCheckpoint,
  type ProvedAppend,
  poolViews,
  proveAppend,
  type QueueStart,
} from "@sotto/chain";
import { appendCall } from "@sotto/chain/ethers";
import { type Address, CHECKPOINT_LEAVES, MAX_APPEND_LEAVES, NoteTree, parseAddress } from "@sotto/protocol";
import { createTreeKernel } from "@sotto/prover/scan";
import { codeOf } from "@sotto/server";
import type { OutboxTransaction } from "../store/index.ts";
import { atHead } from "./chain-reads.ts";
import { latestTime, type RelayerContext, type Round } from "./context.ts";
import type { Sender } from "./sender.ts";
import type { RelayerProver } from "./types.ts";

/** A proved append. It is valid only if the tree has exactly `start.appended` leaves. */
interface Planned extends Pick<ProvedAppend, "end" | "chain"> {
  data: string;
  start: QueueStart;
  newRoot: string;
  sent: boolean;
}

/**
 * Appends that are sent and not mined, at most. If another sender appends fewer leaves first, all of them revert, which costs
 * up to about 120,000 gas each: the price of their calldata. So after a revert only one is sent at a time, and one more after
 * each that succeeds. To cost the relayer the price of four again, another sender must first let three succeed.
 */
const MAX_PLANNED = 4;
/**
 * Gas limit, without gas for data on a parent chain, of an append that no node can estimate, because it follows one that is not
 * mined: twice that of 64 leaves.
 */
const GAS_LIMIT = 700_000n;
/** Pause after a failed proof or a failed transaction, ms. */
const PAUSE_MS = 5_000;
/** Maximum pause after an append was refused again and again, ms. */
const MAX_PAUSE_MS = 300_000;
/** Leaves read from the store at once. */
const PAGE = 10_000;

/**
 * Moves queued notes into the tree. A proof takes about a second, so it is made while the rounds continue. If the next append
 * has more than 32 notes, it is proved for the tree as it will be after those that are sent, so several can be in one block.
 * An append ends at a checkpoint that is final, so later notes cannot make its proof stale.
 * Anyone may append: if another sender appends first, the proofs are lost, and the next one starts from the chain's state.
 */
export class Appender {
  readonly #context: RelayerContext;
  readonly #sender: Sender;
  readonly #prover: RelayerProver;
  readonly #pool: Address;
  readonly #newest: NewestCheckpoint;
  readonly #tree = new NoteTree();
  #proving: Promise<void> | undefined;
  /** Oldest first; each starts where the one before it ends. Those that are sent come first. */
  #planned: Planned[] = [];
  /** Counts how often the plan was discarded, because a proof in progress may belong to an earlier plan. */
  #discarded = 0;
  #pausedUntil = 0;
  /**
   * Appends to the tree with `appended` leaves that a node refused. If another sender appended first, the tree has more leaves
   * as soon as the next blocks are read. If not, the node is wrong, and a new proof would be refused, too.
   */
  #refused: { readonly appended: number; readonly times: number; readonly until: number } | undefined;
  /** How many may be planned now, from 1 to MAX_PLANNED. */
  #window = MAX_PLANNED;

  constructor(context: RelayerContext, sender: Sender, prover: RelayerProver) {
    this.#context = context;
    this.#sender = sender;
    this.#prover = prover;
    this.#pool = parseAddress(context.pool.pool);
    this.#newest = new NewestCheckpoint(context.monotonic);
  }

  /** @param onProved called after each proof @returns whether an append was sent */
  async append(round: Round, onProved: () => void): Promise<boolean> {
    const { store, log, clock, metrics } = this.#context;
    const open = await store.outbox.open();
    const underWay = new Set(open.filter(({ kind, state }) => kind === "append" && state === "sent").map(dataOf));
    const appended = (await store.ledger.lastAppend())?.size ?? 0;
    metrics.gauge("relayer_queued_notes", (await store.ledger.leafCount()) - appended);
    if (!this.#follows(appended, underWay)) {
      log.debug({ appended }, "another append came first, or one failed");
      this.#discard();
    }
    // They are of a discarded plan or of an earlier process, so what they append is not known.
    if (this.#planned.length === 0 && underWay.size > 0) return false;
    if (this.#refused?.appended !== appended) this.#refused = undefined;
    if (this.#isPaused()) return false;
    const sent = await this.#sendPlanned(round);
    if (this.#isPaused() || this.#proving !== undefined || !(await this.#isTime(appended, round))) return sent;
    this.#proving = this.#proveAll(appended, round, onProved)
      .catch((error: unknown) => {
        this.#pausedUntil = clock() + PAUSE_MS;
        log.warn({ code: codeOf(error) }, "the append could not be proved");
      })
      .finally(() => {
        this.#proving = undefined;
      });
    return sent;
  }

  /** Adapts how many appends are sent at once. @param succeeded whether the append in a block executed without a revert */
  mined(succeeded: boolean): void {
    this.#window = succeeded ? Math.min(this.#window + 1, MAX_PLANNED) : 1;
  }

  /** Discards the plan and waits for the proof in progress, after which no other starts. */
  async drain(): Promise<void> {
    this.#discard();
    await this.#proving;
  }

  /** Discards the plan and the leaves that a reorganization removed. */
  async reorganized(): Promise<void> {
    const left = await this.#context.store.ledger.leafCount();
    this.#tree.truncate(Math.min(this.#tree.size, left));
    this.#discard();
  }

  /** Discards the plan, and pauses longer each time unless the tree has grown. */
  #refuse(appended: number): void {
    const times = (this.#refused?.times ?? 0) + 1;
    const pause = Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** (times - 1));
    this.#refused = { appended, times, until: this.#context.clock() + pause };
    this.#discard();
  }

  #isPaused(): boolean {
    return this.#context.clock() < Math.max(this.#pausedUntil, this.#refused?.until ?? 0);
  }

  #discard(): void {
    this.#planned = [];
    this.#discarded += 1;
  }

  /**
   * Forgets the planned appends that are in the tree.
   * @returns whether the others follow on the tree with `appended` leaves, and those that were sent can still be mined
   */
  #follows(appended: number, underWay: ReadonlySet<string>): boolean {
    while (this.#planned[0] !== undefined && this.#planned[0].end.appended <= appended) this.#planned.shift();
    const [first] = this.#planned;
    if (first === undefined) return true;
    return first.start.appended === appended && this.#planned.every(({ sent, data }) => !sent || underWay.has(data));
  }

  /** Whether to prove another append after the planned ones. */
  async #isTime(appended: number, round: Round): Promise<boolean> {
    const { store, config, chain } = this.#context;
    if (this.#planned.length >= this.#window) return false;
    const from = this.#planned.at(-1)?.end.appended ?? appended;
    const queued = (await store.ledger.leafCount()) - from;
    if (queued === 0) return false;
    // The contract accepts a short append only if it includes everything that was queued when the one before it landed.
    if (this.#planned.length > 0 && queued <= CHECKPOINT_LEAVES) return false;
    if (queued >= MAX_APPEND_LEAVES || config.appendAfter === 0) return true;
    const [oldest] = await store.ledger.leaves(from, 1);
    const block = oldest && (await chain.block(oldest.block_number));
    return block !== undefined && (latestTime(this.#context, round) - block.timestamp) * 1000 >= config.appendAfter;
  }

  /** Sends the planned appends in their order. @returns whether one was sent */
  async #sendPlanned(round: Round): Promise<boolean> {
    const { clock } = this.#context;
    let sentOne = false;
    for (const [index, planned] of this.#planned.entries()) {
      if (planned.sent) continue;
      const result = await this.#send(planned, index === 0, round).catch((error: unknown) => {
        // Keeps the proof, because it took a second, and retries after a pause.
        this.#pausedUntil = clock() + PAUSE_MS;
        throw error;
      });
      if (result === "stale") this.#refuse(this.#planned[0]!.start.appended);
      // If the gas price or the budget does not allow it now, the proof is kept.
      if (result !== "sent") break;
      planned.sent = true;
      sentOne = true;
    }
    return sentOne;
  }

  async #send(planned: Planned, isFirst: boolean, round: Round): Promise<"sent" | "stale" | "later"> {
    const { chain, accounts, pool, market, log } = this.#context;
    const { data, end } = planned;
    try {
      const call = { from: accounts.caller.address, to: pool.pool, data };
      const gas = isFirst ? await atHead(chain, round, (node) => node.estimateGas(call)) : undefined;
      // No node can simulate the others yet, but the contract must still have the checkpoint that was proved.
      if (!isFirst) {
        const value = await poolViews(chain, this.#pool).checkpoint(end.lastAppended, round.head.number);
        if (value !== planned.chain) return "stale";
      }
      const gasLimit = gas === undefined ? GAS_LIMIT + (await market.dataGas(pool.pool, data)) : gas + gas / 4n;
      const plan = { kind: "append" as const, to: pool.pool, data, gasLimit, operationIds: [] };
      return (await this.#sender.send(plan, round)) === "sent" ? "sent" : "later";
    } catch (error) {
      if (!(error instanceof CallReverted)) throw error;
      log.debug(
        { data: error.data.slice(0, 10) },
        "the append is refused: another one came first, or the node is behind",
      );
      return "stale";
    }
  }

  /** Proves one append after the other, without waiting for the rounds that send them. */
  async #proveAll(appended: number, round: Round, onProved: () => void): Promise<void> {
    const discarded = this.#discarded;
    do {
      const planned = await this.#prove(appended, round);
      if (planned === undefined || discarded !== this.#discarded) return;
      this.#planned.push(planned);
      onProved();
      // If the last planned append is mined in the meantime, the next round knows the tree.
    } while (this.#planned.length > 0 && (await this.#isTime(appended, round)) && this.#planned.length > 0);
  }

  async #prove(appended: number, { head }: Round): Promise<Planned | undefined> {
    const { store, chain, pool } = this.#context;
    const queue = await poolViews(chain, this.#pool).queue(head.number);
    const after = this.#planned.at(-1)?.end;
    // The contract's state is newer than the events that were read. The next round reads both again.
    if (after === undefined && queue.appended !== appended) return undefined;
    const start = after ?? queue;
    const rows = await store.ledger.leaves(start.appended, MAX_APPEND_LEAVES);
    const proved = await proveAppend({
      chainId: pool.chainId,
      pool: this.#pool,
      chain,
      block: head,
      queue,
      newest: this.#newest,
      after,
      leaves: rows.map(({ commitment }) => BigInt(commitment)),
      prover: this.#prover,
      tree: () => this.#treeAt(start.appended),
    });
    if (proved === undefined) return undefined;
    const { append, end, chain: checkpoint } = proved;
    const data = appendCall(pool.pool, append).data;
    return { data, start, end, chain: checkpoint, newRoot: append.newRoot, sent: false };
  }

  /** The tree with its first `size` leaves, checked against the root of the append that ended there. */
  async #treeAt(size: number): Promise<NoteTree> {
    const { store } = this.#context;
    const tree = this.#tree;
    tree.truncate(Math.min(tree.size, size));
    const permute = size - tree.size >= PAGE ? await createTreeKernel() : undefined;
    while (tree.size < size) {
      const rows = await store.ledger.leaves(tree.size, Math.min(PAGE, size - tree.size));
      if (rows[0]?.leaf_index !== tree.size) throw new ChainError("NODE_INCONSISTENT", `leaf ${tree.size} is missing`);
      tree.append(
        rows.map(({ commitment }) => BigInt(commitment)),
        permute,
      );
    }
    const last = await store.ledger.lastAppend();
    const planned = this.#planned.find(({ end }) => end.appended === size);
    const root = planned?.newRoot ?? (last?.size === size ? last.root : undefined);
    if (root !== undefined && String(tree.root) !== root) {
      tree.truncate(0);
      throw new ChainError("NODE_INCONSISTENT", "the root of the leaves that were read differs from the contract's");
    }
    return tree;
  }
}

const dataOf = ({ data }: OutboxTransaction): string => data;
