import type { AbiCodec, ContractRead } from "./contract.ts";
import type { CallReverted } from "./errors.ts";
import { type BlockTag, ChainNode } from "./node.ts";
import { type Broadcast, broadcast } from "./rpc/broadcast.ts";
import { type ChainOptions, Failover } from "./rpc/failover.ts";
import type { Block, Call, FeeHistory, Head, Log, PendingBlock, Receipt, Transaction } from "./rpc/values.ts";
import type { ChainSource, LogQuery } from "./source.ts";

/** A chain, read through several nodes. Each request goes to one node and fails over to the next one if that node is at fault. */
export class Chain implements ChainSource {
  readonly #nodes: Failover;
  /** The newest block that any node returned. */
  #newest: Head | undefined;
  #comparison: Promise<void> | undefined;

  /** @throws ChainError INVALID_OPTION */
  constructor(options: ChainOptions) {
    this.#nodes = new Failover(options);
  }

  /** The configured chain id. */
  get expectedChainId(): bigint {
    return this.#nodes.chainId;
  }

  /** The configured chain id, once a node has confirmed it. @throws ChainError WRONG_CHAIN */
  chainId(): Promise<bigint> {
    return this.useNode(async () => this.#nodes.chainId);
  }

  /**
   * Runs `action` with one node, so that all its requests go to the same node. Fails over to the next node if that node is
   * at fault or `accept` rejects the result. If no result is accepted, the last one is returned unless a node was at fault.
   */
  useNode<T>(action: (node: ChainNode) => Promise<T>, accept?: (answer: T) => boolean): Promise<T> {
    return this.#nodes.use((endpoint) => action(new ChainNode(endpoint)), accept);
  }

  /**
   * The newest block. If a node is behind a block that another node returned before, all healthy nodes are compared in the
   * background. The earlier block is returned meanwhile, so that a node that hangs does not delay the caller. If no
   * node has that block any more, the chain was reorganized.
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

  /** The block that a node would mine now; undefined if no node tells. */
  pending(): Promise<PendingBlock | undefined> {
    return this.useNode(
      (node) => node.pending(),
      (block) => block !== undefined,
    );
  }

  block(number: number): Promise<Block | undefined> {
    return this.useNode((node) => node.block(number));
  }

  /** The blocks with these numbers, in batched requests. */
  blocks(numbers: readonly number[]): Promise<(Block | undefined)[]> {
    return this.useNode((node) => node.blocks(numbers));
  }

  /** All logs of a contract in a range of blocks. @throws ChainError RANGE_TOO_LARGE */
  logs(query: LogQuery): Promise<Log[]> {
    return this.useNode((node) => node.logs(query));
  }

  /** The transaction with this hash; undefined if no node knows it. */
  transaction(hash: string): Promise<Transaction | undefined> {
    return this.useNode(
      (node) => node.transaction(hash),
      (found) => found !== undefined,
    );
  }

  /** The receipt of a transaction, undefined while it is not in a block. */
  receipt(hash: string): Promise<Receipt | undefined> {
    return this.useNode((node) => node.receipt(hash));
  }

  /** The receipts of these transactions, in batched requests. */
  receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]> {
    return this.useNode((node) => node.receipts(hashes));
  }

  /** The result of a call, hex; by default on the newest block. @throws CallReverted */
  call(call: Call, block?: BlockTag): Promise<string> {
    return this.useNode((node) => node.call(call, block));
  }

  /** The result of each call, in batched requests; for a call that reverts, its error. */
  calls(calls: readonly Call[], block?: BlockTag): Promise<(string | CallReverted)[]> {
    return this.useNode((node) => node.calls(calls, block));
  }

  /** The first value that each function returns, in batched requests. @throws CallReverted */
  reads<Value>(reads: readonly ContractRead<Value>[], block?: BlockTag): Promise<Value[]> {
    return this.useNode((node) => node.reads(reads, block));
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

  /** The gas that a call would use as a transaction. @throws CallReverted; ChainError SENDER_UNFUNDED */
  estimateGas(call: Call): Promise<bigint> {
    return this.useNode((node) => node.estimateGas(call));
  }

  /** The priority fee that a node suggests, wei; undefined if no node suggests one. */
  priorityFee(): Promise<bigint | undefined> {
    return this.useNode((node) => node.priorityFee()).catch(() => undefined);
  }

  /** Gas prices of the last `blocks` blocks. */
  feeHistory(blocks: number): Promise<FeeHistory> {
    return this.useNode((node) => node.feeHistory(blocks));
  }

  /** How many transactions an account has sent: its next nonce. By default on the newest block. */
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

  /**
   * Sends any other request. The result is not checked. A request whose method starts with eth_send is sent only once,
   * to one node.
   */
  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    if (!method.startsWith("eth_send")) return this.useNode((node) => node.request(method, params));
    // Errors are returned, not thrown: `useNode` would retry, but the node may have sent the transaction before its
    // fault.
    const sent = await this.useNode(async (node) => {
      const request = node.request(method, params);
      return request.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
    });
    if ("error" in sent) throw sent.error;
    return sent.value;
  }

  /** Sends a signed transaction to every node and waits for the first one that accepts it. */
  broadcast(raw: string): Promise<Broadcast> {
    return broadcast(this.#nodes, raw);
  }
}

/**
 * Creates a `Chain` from the URLs of one or several nodes. It connects with the first request.
 * @throws ChainError INVALID_OPTION
 */
export const connectChain = (options: ChainOptions): Chain => new Chain(options);
