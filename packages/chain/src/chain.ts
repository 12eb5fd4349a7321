import type { AbiCodec, ContractRead } from "./contract.ts";
import { type CallReverted, ChainError } from "./errors.ts";
import { type BlockTag, ChainNode } from "./node.ts";
import { type Broadcast, broadcast } from "./rpc/broadcast.ts";
import type { RpcEndpoint } from "./rpc/endpoint.ts";
import { type ChainOptions, Failover, type NodeStatus } from "./rpc/failover.ts";
import type { Block, Call, FeeHistory, Head, Log, PendingBlock, Receipt, Transaction } from "./rpc/values.ts";
import type { ChainSource, LogQuery } from "./source.ts";

/** How often the nodes are compared, ms. */
const COMPARE_MS = 3_000;
/** How long a comparison waits for the other nodes after the first one responded, ms. */
const GRACE_MS = 1_000;

/** A chain, read through several nodes. Each request goes to one node and fails over to the next one if that node is at fault. */
export class Chain implements ChainSource {
  readonly #nodes: Failover;
  /** The newest block that any node returned. */
  #newest: Head | undefined;
  #comparison: Promise<Head> | undefined;
  /** When the nodes were last compared, ms. */
  #comparedAt = Number.NEGATIVE_INFINITY;
  readonly #clock: () => number;

  /** @throws ChainError INVALID_OPTION */
  constructor(options: ChainOptions) {
    this.#nodes = new Failover(options);
    this.#clock = options.clock ?? Date.now;
  }

  /** The configured chain id. */
  get expectedChainId(): bigint {
    return this.#nodes.chainId;
  }

  /** The nodes in the configured order: how often each was asked and at fault, and which of them is used now. */
  get nodes(): readonly NodeStatus[] {
    return this.#nodes.status;
  }

  /**
   * Uses these nodes from the next request on, in order of preference; running requests end with the nodes that they began with.
   * @param timeoutMs timeout of one request, ms
   * @throws ChainError INVALID_OPTION; then nothing has changed
   */
  useNodes(urls: readonly string[], timeoutMs: number): void {
    this.#nodes.replace(urls, timeoutMs);
    this.#comparedAt = Number.NEGATIVE_INFINITY;
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
   * The newest block. From time to time the nodes are compared in the background: those that are behind are used last until
   * they have caught up. Meanwhile, the newest block that any node returned is returned, so that a node that hangs does not
   * delay the caller. If no node has that block any more, the chain was reorganized.
   */
  async head(): Promise<Head> {
    // Without a comparison, nobody knows whether the first node is behind.
    if (this.#nodes.count > 1 && this.#newest === undefined) return this.newest();
    const head = await this.useNode((node) => node.head());
    const newest = this.#newest ?? head;
    const isBehind = this.#nodes.count > 1 && head.number < newest.number;
    if (this.#nodes.count > 1 && (isBehind || this.#clock() >= this.#comparedAt + COMPARE_MS))
      void this.#compare().catch(() => undefined);
    if (isBehind) return newest;
    this.#newest = head;
    return head;
  }

  /**
   * The newest block of all nodes, which are asked now. A node that does not respond within a second after the first one is
   * not waited for.
   * @throws ChainError the fault of a node, if none responds
   */
  async newest(): Promise<Head> {
    if (this.#nodes.count === 1) return this.head();
    return this.#compare();
  }

  /** Concurrent callers share a comparison. */
  #compare(): Promise<Head> {
    this.#comparison ??= this.#askAll().finally(() => {
      this.#comparison = undefined;
    });
    return this.#comparison;
  }

  async #askAll(): Promise<Head> {
    const before = this.#newest;
    const heads = await soonFulfilled(this.#nodes.all((node) => new ChainNode(node).head()));
    this.#compared(heads);
    // Throws the fault of a node, or retries.
    if (heads.size === 0) return this.useNode((node) => node.head());
    const newest = [...heads.values()].reduce((a, b) => (b.number > a.number ? b : a));
    // A request that ran at the same time may have returned a newer one.
    if (this.#newest === before || newest.number > (this.#newest?.number ?? 0)) this.#newest = newest;
    this.#comparedAt = this.#clock();
    return newest;
  }

  /** @param heads the newest blocks of the nodes that responded */
  #compared(heads: ReadonlyMap<RpcEndpoint, Head>): void {
    const newest = Math.max(...Array.from(heads.values(), ({ number }) => number));
    const lags = new Map(Array.from(heads, ([node, { number }]) => [node, newest - number]));
    this.#nodes.compared(lags, (node) =>
      new ChainNode(node).inconsistent(`is at block ${heads.get(node)?.number}, behind ${newest}`),
    );
  }

  /** The block that a node would mine now; undefined if no node reports it. */
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

  /** Wei; by default on the newest block. */
  balance(address: string, block?: BlockTag): Promise<bigint> {
    return this.useNode((node) => node.balance(address, block));
  }

  /** The code at `address`, "0x" if there is none; by default on the newest block. */
  code(address: string, block?: BlockTag): Promise<string> {
    return this.useNode((node) => node.code(address, block));
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

/** The results, in this order, of those that are fulfilled before GRACE_MS have passed since the first one was. */
function soonFulfilled<K, T>(promises: ReadonlyMap<K, Promise<T>>): Promise<Map<K, T>> {
  return new Promise((resolve) => {
    const results = new Map<K, T>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      const ordered = [...promises.keys()].filter((key) => results.has(key));
      resolve(new Map(ordered.map((key) => [key, results.get(key)!])));
    };
    const waiting = [...promises].map(async ([key, promise]) => {
      results.set(key, await promise);
      timer ??= setTimeout(end, GRACE_MS);
    });
    void Promise.allSettled(waiting).then(end);
  });
}

/**
 * Checks nodes before they are used: one that does not respond may be down for a while, but none may be on another chain.
 * @throws ChainError WRONG_CHAIN if any node is on another chain, the fault of a node if none responds, INVALID_OPTION
 */
export async function assertNodes(options: ChainOptions): Promise<void> {
  const nodes = options.urls.map((url) => new Chain({ ...options, urls: [url], log: undefined }));
  const results = await Promise.allSettled(nodes.map((node) => node.chainId()));
  const faults = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  const wrong = faults.find((fault) => fault instanceof ChainError && fault.code === "WRONG_CHAIN");
  if (wrong !== undefined) throw wrong;
  if (faults.length === nodes.length && faults.length > 0) throw faults[0];
}

/**
 * Creates a `Chain` from the URLs of one or several nodes. It connects with the first request.
 * @throws ChainError INVALID_OPTION
 */
export const connectChain = (options: ChainOptions): Chain => new Chain(options);
