import { emptyRoots, NoteTree, TREE_DEPTH } from "@sotto/protocol";
import { type Block, type Call, type ChainSource, type Log, type LogQuery, poolInterface } from "@sotto/wallet";
import { keccak256, toBeHex } from "ethers";

const TOKEN = `0x${"70".repeat(20)}`;
const APPEND_LEAVES = 64;

/**
 * A node in memory that answers with recorded pool events: real, encoded logs, including the appends that move the notes
 * into the tree. It needs no network, so the bench measures only the wallet.
 */
export class RecordedChain implements ChainSource {
  readonly chainIdValue = 31337n;
  readonly pool = `0x${"90".repeat(20)}`;
  readonly #logs: Log[][] = [];
  readonly #tree = new NoteTree();
  #queued: bigint[] = [];
  #leaves = 0;

  get leaves(): number {
    return this.#leaves;
  }

  /** Adds a block with these events; each lists the leaves it queues. */
  mine(events: readonly { name: string; values: readonly unknown[]; leaves: readonly bigint[] }[]): void {
    const logs: Log[] = [];
    for (const { name, values, leaves } of events) {
      logs.push(this.#log(name, [...values, BigInt(this.#leaves)], logs.length));
      this.#leaves += leaves.length;
      this.#queued.push(...leaves);
    }
    while (this.#queued.length >= APPEND_LEAVES) logs.push(this.#append(logs.length));
    this.#logs.push(logs);
  }

  /** Appends the queued leaves to the tree. */
  finish(): void {
    const logs: Log[] = [];
    while (this.#queued.length > 0) logs.push(this.#append(logs.length));
    this.#logs.push(logs);
  }

  async chainId(): Promise<bigint> {
    return this.chainIdValue;
  }

  async head(): Promise<Block> {
    return (await this.block(this.#logs.length - 1))!;
  }

  async block(number: number): Promise<Block | undefined> {
    return number < this.#logs.length
      ? { number, hash: hashOf(number), timestamp: 1_800_000_000 + 12 * number }
      : undefined;
  }

  async logs({ from, to }: LogQuery): Promise<Log[]> {
    return this.#logs.slice(from, to + 1).flat();
  }

  async code(): Promise<string> {
    return "0x60";
  }

  async call({ data }: Call): Promise<string> {
    const asked = poolInterface.parseTransaction({ data });
    const answers: Record<string, unknown> = {
      token: TOKEN,
      smallestDeposit: 1n,
      EMPTY_ROOT: emptyRoots()[TREE_DEPTH],
      root: this.#tree.root,
      isKnownRoot: asked?.args.toArray()[0] === this.#tree.root,
    };
    if (asked === null || !(asked.name in answers))
      throw new Error(`the recorded chain cannot answer the call ${data}`);
    return poolInterface.encodeFunctionResult(asked.name, [answers[asked.name]]);
  }

  #append(logIndex: number): Log {
    const leaves = this.#queued.splice(0, APPEND_LEAVES);
    const start = this.#tree.size;
    this.#tree.append(leaves);
    return this.#log("Appended", [this.#tree.root, BigInt(start), BigInt(leaves.length)], logIndex);
  }

  #log(name: string, values: readonly unknown[], logIndex: number): Log {
    const blockNumber = this.#logs.length;
    const { topics, data } = poolInterface.encodeEventLog(name, [...values]);
    const transactionHash = hashOf(2 ** 40 + blockNumber * 1000 + logIndex);
    return {
      address: this.pool,
      topics: [...topics],
      data,
      blockNumber,
      blockHash: hashOf(blockNumber),
      transactionHash,
      logIndex,
    };
  }
}

function hashOf(number: number): string {
  return keccak256(toBeHex(number, 32));
}
