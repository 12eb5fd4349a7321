import { type AbiCodec, type ContractRead, decodeResult } from "./contract.ts";
import { CallReverted, ChainError, RpcErrorResponse } from "./errors.ts";
import type { RpcEndpoint } from "./rpc/endpoint.ts";
import {
  type Block,
  type Call,
  type FeeHistory,
  type Head,
  hexNumber,
  type Log,
  type PendingBlock,
  parseBlock,
  parseFeeHistory,
  parseHead,
  parseHex,
  parseLogs,
  parseNumber,
  parsePending,
  parseQuantity,
  parseReceipt,
  parseTransaction,
  type Receipt,
  type Transaction,
} from "./rpc/values.ts";
import { type ChainSource, inconsistent, type LogQuery } from "./source.ts";

/** A block by its number, or the newest one. */
export type BlockTag = number | "latest";

const tagOf = (block: BlockTag): string => (block === "latest" ? block : hexNumber(block));

/** Requests to one node. The responses are checked. */
export class ChainNode implements ChainSource {
  readonly #node: RpcEndpoint;

  constructor(node: RpcEndpoint) {
    this.#node = node;
  }

  /** The node's host only, because the rest of the URL may contain a key. */
  get name(): string {
    return this.#node.name;
  }

  /** The EIP-155 id of the node's chain. */
  async chainId(): Promise<bigint> {
    return parseQuantity(await this.#node.ask("eth_chainId", []));
  }

  /** Sends any other request. The result is not checked. */
  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#node.ask(method, params);
  }

  /** The number of the newest block. */
  async height(): Promise<number> {
    return parseNumber(await this.#node.ask("eth_blockNumber", []));
  }

  async head(): Promise<Head> {
    return parseHead(await this.#node.ask("eth_getBlockByNumber", ["latest", false]));
  }

  /** The block that the node would mine now; undefined if the node does not report it. */
  async pending(): Promise<PendingBlock | undefined> {
    // Nodes need not have it, so its absence is not the node's fault.
    return this.#node
      .ask("eth_getBlockByNumber", ["pending", false])
      .then(parsePending)
      .catch(() => undefined);
  }

  /** The block of the canonical chain, undefined if there is none (yet). */
  async block(number: number): Promise<Block | undefined> {
    return this.#block(number, await this.#node.ask("eth_getBlockByNumber", [hexNumber(number), false]));
  }

  /** Like `block`, but for several numbers, in as few requests as the node permits. */
  async blocks(numbers: readonly number[]): Promise<(Block | undefined)[]> {
    const questions = numbers.map((number) => [hexNumber(number), false]);
    const answers = await this.#node.askMany("eth_getBlockByNumber", questions);
    return numbers.map((number, index) => this.#block(number, answers[index]));
  }

  #block(number: number, answer: unknown): Block | undefined {
    const block = parseBlock(answer);
    if (block !== undefined && block.number !== number)
      throw this.inconsistent(`returned block ${block.number} instead of ${number}`);
    return block;
  }

  /** The transaction with this hash, undefined if the node does not know it. */
  async transaction(hash: string): Promise<Transaction | undefined> {
    const transaction = parseTransaction(await this.#node.ask("eth_getTransactionByHash", [hash]));
    if (transaction !== undefined && transaction.hash !== hash) throw this.inconsistent("returned another transaction");
    return transaction;
  }

  /** The receipt of a transaction, undefined while it is not in a block. */
  async receipt(hash: string): Promise<Receipt | undefined> {
    return this.#receipt(hash, await this.#node.ask("eth_getTransactionReceipt", [hash]));
  }

  /** Like `receipt`, but for several hashes, in as few requests as the node permits. */
  async receipts(hashes: readonly string[]): Promise<(Receipt | undefined)[]> {
    const answers = await this.#node.askMany(
      "eth_getTransactionReceipt",
      hashes.map((hash) => [hash]),
    );
    return hashes.map((hash, index) => this.#receipt(hash, answers[index]));
  }

  #receipt(hash: string, answer: unknown): Receipt | undefined {
    const receipt = parseReceipt(answer);
    if (receipt !== undefined && receipt.transactionHash !== hash)
      throw this.inconsistent("returned the receipt of another transaction");
    return receipt;
  }

  /**
   * All logs of a contract in a range of blocks, in the order of the chain.
   * @throws ChainError RANGE_TOO_LARGE if the node refuses a range of several blocks, regardless of its message
   */
  async logs({ address, from, to, topics }: LogQuery): Promise<Log[]> {
    const filter = { address, fromBlock: hexNumber(from), toBlock: hexNumber(to), topics };
    const answer = await this.#node.ask("eth_getLogs", [filter]).catch((cause: unknown) => {
      if (from === to || !(cause instanceof RpcErrorResponse)) throw cause;
      const message = `${this.name} refuses the logs of blocks ${from} to ${to}`;
      throw new ChainError("RANGE_TOO_LARGE", message, { node: this.name }, { cause });
    });
    const logs = parseLogs(answer);
    if (logs.some((log) => log.blockNumber < from || log.blockNumber > to || log.address !== address))
      throw this.inconsistent("returned logs that do not match the query");
    return logs;
  }

  /** The result of a call, hex; by default on the newest block. @throws CallReverted */
  async call(call: Call, block: BlockTag = "latest"): Promise<string> {
    return parseHex(await this.#node.ask("eth_call", [call, tagOf(block)]));
  }

  /**
   * Like `call`, but for several calls, in as few requests as the node permits. A call that reverts yields its error.
   */
  async calls(calls: readonly Call[], block: BlockTag = "latest"): Promise<(string | CallReverted)[]> {
    const questions = calls.map((call) => [call, tagOf(block)]);
    const answers = await this.#node.askMany("eth_call", questions);
    return answers.map((answer) => (answer instanceof CallReverted ? answer : parseHex(answer)));
  }

  /**
   * The first value that a function of a contract returns. A contract's result always matches its ABI, so a node that
   * returns anything else is at fault.
   * @throws CallReverted
   */
  async read<Value>(
    abi: AbiCodec<Value>,
    to: string,
    name: string,
    values: readonly unknown[] = [],
    block: BlockTag = "latest",
  ): Promise<Value> {
    const result = await this.call({ to, data: abi.encodeFunctionData(name, values) }, block);
    return decodeResult(this, abi, name, result);
  }

  /** Like `read`, but for several calls, in as few requests as the node permits. */
  async reads<Value>(reads: readonly ContractRead<Value>[], block: BlockTag = "latest"): Promise<Value[]> {
    const calls = reads.map(({ abi, to, name, values }) => ({ to, data: abi.encodeFunctionData(name, values) }));
    const results = await this.calls(calls, block);
    return reads.map(({ abi, name }, index) => {
      const result = results[index];
      if (typeof result !== "string") throw result;
      return decodeResult(this, abi, name, result);
    });
  }

  /**
   * The gas that a call would use as a transaction on the newest block. The call names that block, because some nodes
   * otherwise apply the pending transactions first, and anyone can send one that is never mined.
   * @throws CallReverted; ChainError SENDER_UNFUNDED
   */
  async estimateGas(call: Call): Promise<bigint> {
    return parseQuantity(await this.#node.ask("eth_estimateGas", [call, "latest"]));
  }

  /** The priority fee that the node suggests, wei. */
  async priorityFee(): Promise<bigint> {
    return parseQuantity(await this.#node.ask("eth_maxPriorityFeePerGas", []));
  }

  /** Gas prices of the last `blocks` blocks. */
  async feeHistory(blocks: number): Promise<FeeHistory> {
    return parseFeeHistory(await this.#node.ask("eth_feeHistory", [hexNumber(blocks), "latest", [10]]));
  }

  /** How many transactions an account has sent: its next nonce. By default on the newest block. */
  async transactionCount(address: string, block: BlockTag = "latest"): Promise<number> {
    return parseNumber(await this.#node.ask("eth_getTransactionCount", [address, tagOf(block)]));
  }

  /** Wei; by default on the newest block. */
  async balance(address: string, block: BlockTag = "latest"): Promise<bigint> {
    return parseQuantity(await this.#node.ask("eth_getBalance", [address, tagOf(block)]));
  }

  /** The code at `address`, "0x" if there is none; by default on the newest block. */
  async code(address: string, block: BlockTag = "latest"): Promise<string> {
    return parseHex(await this.#node.ask("eth_getCode", [address, tagOf(block)]));
  }

  /**
   * Checks that the node has a block, so that what it answers next is about this chain and not about an earlier state.
   * @throws ChainError NODE_INCONSISTENT
   */
  async assertHas({ number, hash }: Pick<Block, "number" | "hash">): Promise<void> {
    const found = await this.block(number);
    if (found?.hash === hash) return;
    throw this.inconsistent(found === undefined ? `has no block ${number} yet` : `has another block ${number}`);
  }

  /** The error for contradictory responses of this node. */
  inconsistent(what: string): ChainError {
    return inconsistent(this, what);
  }
}
