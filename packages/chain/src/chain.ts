import type { AbiCodec, ContractQuestion } from "./contract.ts";
import type { CallReverted } from "./errors.ts";
import { type BlockTag, ChainNode } from "./node.ts";
import { type Broadcast, broadcast } from "./rpc/broadcast.ts";
import { type ChainOptions, Failover } from "./rpc/failover.ts";
import type { Block, Call, FeeHistory, Head, Log, Receipt } from "./rpc/values.ts";
import type { ChainSource, LogQuery } from "./source.ts";

/** The chain behind several nodes: each question goes to one node, and to the next one if that is at fault. */
export class Chain implements ChainSource {
  readonly #nodes: Failover;
  /** The newest block that a node has shown. */
  #newest: Head | undefined;
  #comparison: Promise<void> | undefined;

  /** @throws ChainError INVALID_OPTION */
  constructor(options: ChainOptions) {
    this.#nodes = new Failover(options);
  }

  /** The chain id that was configured. */
  get expectedChainId(): bigint {
    return this.#nodes.chainId;
  }

  /** The chain id that was configured, after a node confirmed it. @throws ChainError WRONG_CHAIN */
  chainId(): Promise<bigint> {
    return this.useNode(async () => this.#nodes.chainId);
  }

  /**
   * Asks one node several questions, and the next node if the first one is at fault or `accept` is false for its answer.
   * If no answer is accepted, the last one is returned only if no node was at fault.
   */
  useNode<T>(action: (node: ChainNode) => Promise<T>, accept?: (answer: T) => boolean): Promise<T> {
    return this.#nodes.use((endpoint) => action(new ChainNode(endpoint)), accept);
  }

  /**
   * The newest block. If a node is behind a block that was seen before, all nodes are compared, and until that is done
   * the block seen before is returned: a node that hangs delays nobody. If no node has that block any more, the chain
   * was reorganised.
   */
  async head(): Promise<Head> {
    const head = await this.useNode((node) => node.head());
    const newest = this.#newest;
    if (newest === undefined || head.number >= newest.number || this.#nodes.healthy <= 1) {
      this.#newest = head;
      return head;
    }
    this.#comparison ??= this.#compare(newest).finally(() => {
      this.#comparison = undefined;
    });
    return newest;
  }

  async #compare(newest: Head): Promise<void> {
    const asked = this.#nodes.start("healthy", async (node) => ({ node, head: await new ChainNode(node).head() }));
    const answers = (await Promise.allSettled(asked)).filter((answer) => answer.status === "fulfilled");
    const heads = answers.map(({ value }) => value).sort((a, b) => b.head.number - a.head.number);
    const best = heads[0]?.head;
    if (best === undefined || this.#newest !== newest) return;
    this.#newest = best;
    if (best.number < newest.number) return;
    for (const { node, head } of heads)
      if (head.number < newest.number)
        this.#nodes.demote(
          node,
          new ChainNode(node).inconsistent(`is at block ${head.number}, behind ${newest.number}`),
        );
  }

  block(number: number): Promise<Block | undefined> {
    return this.useNode((node) => node.block(number));
  }

  /** The blocks with these numbers, in one request for many of them. */
  blocks(numbers: readonly number[]): Promise<(Block | undefined)[]> {
    return this.useNode((node) => node.blocks(numbers));
  }

  /** All logs of a contract in a range of blocks. @throws ChainError RANGE_TOO_LARGE */
  logs(query: LogQuery): Promise<Log[]> {
    return this.useNode((node) => node.logs(query));
  }

  /** The receipt of a transaction, undefined while it is not in a block. */
  receipt(hash: string): Promise<Receipt | undefined> {
    return this.useNode((node) => node.receipt(hash));
  }

  /** The receipts of these transactions, in one request for many of them. */
  receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]> {
    return this.useNode((node) => node.receipts(hashes));
  }

  /** @throws CallReverted */
  call(call: Call, block?: BlockTag): Promise<string> {
    return this.useNode((node) => node.call(call, block));
  }

  /** What each call returns, in one request for many of them; a call that reverts gives its error. */
  calls(calls: readonly Call[], block?: BlockTag): Promise<(string | CallReverted)[]> {
    return this.useNode((node) => node.calls(calls, block));
  }

  /** The first value that each function returns, in one request for many of them. @throws CallReverted */
  reads<Value>(questions: readonly ContractQuestion<Value>[], block?: BlockTag): Promise<Value[]> {
    return this.useNode((node) => node.reads(questions, block));
  }

  /** The first value that a function of a contract returns. @throws CallReverted */
  read<Value>(
    abi: AbiCodec<Value>,
    to: string,
    name: string,
    values?: readonly unknown[],
    block?: BlockTag,
  ): Promise<Value> {
    return this.useNode((node) => node.read(abi, to, name, values, block));
  }

  /** @throws CallReverted; ChainError SENDER_UNFUNDED */
  estimateGas(call: Call): Promise<bigint> {
    return this.useNode((node) => node.estimateGas(call));
  }

  /** The priority fee that a node suggests, wei; undefined if no node suggests one. */
  priorityFee(): Promise<bigint | undefined> {
    return this.useNode((node) => node.priorityFee()).catch(() => undefined);
  }

  /** What the last `blocks` blocks cost. */
  feeHistory(blocks: number): Promise<FeeHistory> {
    return this.useNode((node) => node.feeHistory(blocks));
  }

  transactionCount(address: string, block?: BlockTag): Promise<number> {
    return this.useNode((node) => node.transactionCount(address, block));
  }

  /** Wei. */
  balance(address: string): Promise<bigint> {
    return this.useNode((node) => node.balance(address));
  }

  /** The code at `address`, "0x" if there is none. */
  code(address: string): Promise<string> {
    return this.useNode((node) => node.code(address));
  }

  /** Any other question. Its answer is not checked. */
  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.useNode((node) => node.request(method, params));
  }

  /** Hands a signed transaction to every node, and waits for the first that takes it. */
  broadcast(raw: string): Promise<Broadcast> {
    return broadcast(this.#nodes, raw);
  }
}

/**
 * Connects to a chain through one or several nodes. Nothing is asked before the first question.
 * @throws ChainError INVALID_OPTION
 */
export const connectChain = (options: ChainOptions): Chain => new Chain(options);
