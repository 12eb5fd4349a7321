import type { Interface } from "ethers";
import { CallReverted, RelayerError } from "../errors.ts";
import { isNodeFault, Nodes, type NodesOptions } from "./nodes.ts";
import type { RpcNode } from "./rpc.ts";
import {
  type Block,
  type Call,
  type Head,
  hexNumber,
  type Log,
  type Receipt,
  readBlock,
  readHead,
  readHex,
  readLogs,
  readQuantity,
  readReceipt,
} from "./values.ts";

export type BlockTag = number | "latest";

const tagOf = (block: BlockTag): string => (block === "latest" ? block : hexNumber(block));

/** Questions to one node, with answers that have been looked at. */
export class NodeView {
  readonly #node: RpcNode;

  constructor(node: RpcNode) {
    this.#node = node;
  }

  get name(): string {
    return this.#node.name;
  }

  /** The block of the canonical chain, undefined where there is none (yet). */
  async block(number: number): Promise<Block | undefined> {
    const block = readBlock(await this.#node.ask("eth_getBlockByNumber", [hexNumber(number), false]));
    if (block !== undefined && block.number !== number)
      throw this.inconsistent(`gives block ${block.number} for ${number}`);
    return block;
  }

  async head(): Promise<Head> {
    return readHead(await this.#node.ask("eth_getBlockByNumber", ["latest", false]));
  }

  async logs(address: string, from: number, to: number, topics: readonly (string | null)[] = []): Promise<Log[]> {
    const filter = {
      address,
      fromBlock: hexNumber(from),
      toBlock: hexNumber(to),
      ...(topics.length ? { topics } : {}),
    };
    const logs = readLogs(await this.#node.ask("eth_getLogs", [filter]));
    if (logs.some((log) => log.blockNumber < from || log.blockNumber > to || log.address !== address))
      throw this.inconsistent(`gives logs beside those asked for`);
    return logs;
  }

  /** @throws CallReverted */
  async call(call: Call, block: BlockTag): Promise<string> {
    return readHex(await this.#node.ask("eth_call", [call, tagOf(block)]));
  }

  /**
   * What a contract's function returns. No contract answers in another form: a node that does is at fault.
   * @throws CallReverted
   */
  async read(abi: Interface, to: string, name: string, values: readonly unknown[] = [], block: BlockTag = "latest") {
    const result = await this.call({ to, data: abi.encodeFunctionData(name, values) }, block);
    try {
      return abi.decodeFunctionResult(name, result)[0];
    } catch {
      throw this.inconsistent(`gives ${result.length / 2 - 1} bytes that are no answer of ${name}`);
    }
  }

  inconsistent(what: string): RelayerError {
    return new RelayerError("NODE_INCONSISTENT", `${this.name} ${what}`, { node: this.name });
  }
}

/** The chain behind several nodes. */
export class ChainReader {
  readonly nodes: Nodes;
  #highest = 0;

  constructor(options: NodesOptions) {
    this.nodes = new Nodes(options);
  }

  get chainId(): bigint {
    return this.nodes.chainId;
  }

  /** Asks one node several things; the next one where it is at fault. */
  use<T>(action: (view: NodeView) => Promise<T>): Promise<T> {
    return this.nodes.use((node) => action(new NodeView(node)));
  }

  /**
   * The newest block. A node whose head is behind what was seen before is passed over while another knows better; if
   * all agree, the chain was reorganised.
   */
  async head(): Promise<Head> {
    let best: Head | undefined;
    try {
      const head = await this.use(async (view) => {
        const found = await view.head();
        if (best === undefined || found.number > best.number) best = found;
        if (found.number < this.#highest)
          throw view.inconsistent(`is at block ${found.number}, behind ${this.#highest}`);
        return found;
      });
      this.#highest = head.number;
      return head;
    } catch (error) {
      if (best === undefined || !isNodeFault(error)) throw error;
      this.#highest = best.number;
      return best;
    }
  }

  /** What a contract's function returns. @throws CallReverted */
  read(...question: Parameters<NodeView["read"]>): ReturnType<NodeView["read"]> {
    return this.use((view) => view.read(...question));
  }

  /** @throws CallReverted */
  async call(call: Call, block: BlockTag = "latest"): Promise<string> {
    return readHex(await this.nodes.ask("eth_call", [call, tagOf(block)]));
  }

  /** @throws CallReverted */
  async estimateGas(call: Call): Promise<bigint> {
    return readQuantity(await this.nodes.ask("eth_estimateGas", [call]));
  }

  /** What nodes suggest for the builder, wei; undefined where they do not know. */
  async priorityFee(): Promise<bigint | undefined> {
    return this.nodes.ask("eth_maxPriorityFeePerGas", []).then(readQuantity, () => undefined);
  }

  async transactionCount(address: string, block: BlockTag = "latest"): Promise<number> {
    return Number(readQuantity(await this.nodes.ask("eth_getTransactionCount", [address, tagOf(block)])));
  }

  async balance(address: string): Promise<bigint> {
    return readQuantity(await this.nodes.ask("eth_getBalance", [address, "latest"]));
  }

  async code(address: string): Promise<string> {
    return readHex(await this.nodes.ask("eth_getCode", [address, "latest"]));
  }

  /** undefined while it is not in a block. */
  async receipt(hash: string): Promise<Receipt | undefined> {
    const receipt = readReceipt(await this.nodes.ask("eth_getTransactionReceipt", [hash]));
    if (receipt !== undefined && receipt.transactionHash !== hash)
      throw new RelayerError("NODE_INCONSISTENT", "a node gives the receipt of another transaction");
    return receipt;
  }

  block(number: number): Promise<Block | undefined> {
    return this.use((view) => view.block(number));
  }

  /**
   * Hands a signed transaction to every node.
   * @returns why no node took it; undefined where one did, or had it already
   */
  async send(raw: string): Promise<string | undefined> {
    const answers = await this.nodes.askAll("eth_sendRawTransaction", [raw]);
    let refusal = "unreachable";
    for (const answer of answers) {
      if (answer.status === "fulfilled") return undefined;
      const { reason } = answer;
      // Nodes that mine at once report what the transaction did, not whether they took it.
      if (reason instanceof CallReverted) return undefined;
      const text = reason !== null && typeof reason === "object" && "text" in reason ? String(reason.text) : "";
      if (/already known|already imported|known transaction|already in (the )?mempool|already exists/i.test(text))
        return undefined;
      if (text !== "") refusal = text;
    }
    return refusal;
  }
}
