// Keeps the local chain across restarts. Hardhat's node cannot store its state, but it builds the same blocks from the same
// transactions and timestamps. So every block is written to a file before its transaction's sender gets a response, and
// the next start builds the blocks again and compares their hashes.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { CommandError } from "@sotto/command/command";
import { Transaction, type TransactionLike } from "ethers";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { NetworkConnection } from "hardhat/types/network";

/** The first line of the history file. */
interface Header {
  readonly version: 1;
  /** Time of the genesis block, Unix ms. */
  readonly genesis: number;
}

/** One line for each block after the genesis block. */
interface RecordedBlock {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly hash: string;
  /** Signed transactions, hex with 0x. */
  readonly transactions: readonly string[];
}

/** The fields of a node's block that are used here; numbers are hex with 0x. */
export interface NodeBlock {
  readonly number: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly transactions: readonly NodeTransaction[];
}

export interface NodeTransaction {
  readonly hash: string;
  readonly type: string;
  readonly to: string | null;
  readonly input: string;
  readonly value: string;
  readonly nonce: string;
  readonly gas: string;
  readonly gasPrice: string;
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly accessList?: [];
  readonly chainId: string;
  readonly v: string;
  readonly r: string;
  readonly s: string;
}

/** Requests that may add blocks. */
const ADDS_BLOCKS = new Set(["eth_sendTransaction", "eth_sendRawTransaction", "evm_mine", "hardhat_mine"]);

const quantity = (value: number): string => `0x${value.toString(16)}`;

export class ChainHistory {
  /** Time of the genesis block. Start the node with this time. */
  readonly genesis: Date;
  /** The number of blocks in the file. */
  readonly length: number;
  readonly #path: string;
  readonly #blocks: readonly RecordedBlock[];
  #connection: NetworkConnection | undefined;
  /** The last block in the file. */
  #written: number;
  /** The last pending write: writes run one after another, so that the file has the order of the chain. */
  #writing: Promise<void> = Promise.resolve();

  /** Reads the file, or begins one. @throws CommandError CHAIN_HISTORY_DAMAGED */
  constructor(path: string) {
    this.#path = path;
    const isNew = !existsSync(path);
    if (isNew) writeFileSync(path, `${JSON.stringify({ version: 1, genesis: Date.now() } satisfies Header)}\n`);
    const [header, blocks] = readHistory(path);
    this.genesis = new Date(header.genesis);
    this.#blocks = blocks;
    this.length = blocks.length;
    this.#written = blocks.length;
  }

  /** Records the blocks of the next connection that is opened. Call it before the node is created. */
  observe(hre: HardhatRuntimeEnvironment): void {
    hre.hooks.registerHandlers("network", {
      newConnection: async (context, next) => {
        const connection = await next(context);
        this.#connection ??= connection as NetworkConnection;
        return connection;
      },
      onRequest: async (context, connection, request, next) => {
        try {
          return await next(context, connection, request);
        } finally {
          // A reverted transaction is in a block too, although its request fails.
          if (connection.id === this.#connection?.id && ADDS_BLOCKS.has(request.method)) await this.#record();
        }
      },
    });
  }

  /**
   * Builds the recorded blocks again, and then sets the node's clock to the machine's.
   * @param onProgress called with the number of blocks built so far
   * @throws CommandError CHAIN_NOT_REPEATED
   */
  async replay(onProgress: (blocks: number) => void): Promise<void> {
    for (const { number, timestamp, hash, transactions } of this.#blocks) {
      await this.#request("evm_setNextBlockTimestamp", [quantity(timestamp)]);
      if (transactions.length === 0) await this.#request("evm_mine", []);
      // A reverted transaction is an error of the request. The block's hash shows whether it reverted before.
      for (const transaction of transactions)
        await this.#request("eth_sendRawTransaction", [transaction]).catch(() => undefined);
      const block = await this.#block(number, false);
      if (block?.hash !== hash)
        throw new CommandError(
          "CHAIN_NOT_REPEATED",
          `block ${number} of ${this.#path} cannot be built again with this version of the node`,
        );
      onProgress(number);
    }
    if (this.#blocks.length > 0) await this.#followClock();
  }

  /** Setting a block's time delays all later blocks by the same amount. */
  async #followClock(): Promise<void> {
    const pending = (await this.#request("eth_getBlockByNumber", ["pending", false])) as NodeBlock;
    const behind = Math.ceil(Date.now() / 1000) - Number(pending.timestamp);
    if (behind > 0) await this.#request("evm_increaseTime", [quantity(behind)]);
  }

  /** Writes the blocks that are not in the file yet. */
  #record(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const head = Number(await this.#request("eth_blockNumber", []));
      for (let number = this.#written + 1; number <= head; number++) {
        const block = (await this.#block(number, true))!;
        const recorded: RecordedBlock = {
          number,
          timestamp: Number(block.timestamp),
          hash: block.hash,
          transactions: block.transactions.map(serialize),
        };
        appendFileSync(this.#path, `${JSON.stringify(recorded)}\n`);
        this.#written = number;
      }
    });
    return this.#writing;
  }

  #block(number: number, whole: boolean): Promise<NodeBlock | null> {
    return this.#request("eth_getBlockByNumber", [quantity(number), whole]) as Promise<NodeBlock | null>;
  }

  #request(method: string, params: unknown[]): Promise<unknown> {
    if (this.#connection === undefined) throw new Error("the node has not been created");
    return this.#connection.provider.request({ method, params });
  }
}

/** The lines of the file. A last line without a line break is ignored: the node was killed while writing it. */
function readHistory(path: string): [Header, RecordedBlock[]] {
  const damaged = () =>
    new CommandError("CHAIN_HISTORY_DAMAGED", `${path} is not a record of a chain; remove it to begin a new chain`);
  const text = readFileSync(path, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  if (whole.length < text.length) writeFileSync(path, whole);
  try {
    const [header, ...blocks] = whole
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown) as [Header, ...RecordedBlock[]];
    if (header?.version !== 1 || blocks.some(({ number }, index) => number !== index + 1)) throw damaged();
    return [header, blocks];
  } catch (error) {
    throw error instanceof SyntaxError ? damaged() : error;
  }
}

/** The transaction as its sender signed it, hex with 0x. */
export function serialize(found: NodeTransaction): string {
  const type = Number(found.type);
  const fields: TransactionLike = {
    type,
    to: found.to,
    data: found.input,
    value: found.value,
    nonce: Number(found.nonce),
    gasLimit: found.gas,
    chainId: found.chainId,
    accessList: type === 0 ? null : (found.accessList ?? []),
    gasPrice: type < 2 ? found.gasPrice : null,
    maxFeePerGas: type < 2 ? null : (found.maxFeePerGas ?? null),
    maxPriorityFeePerGas: type < 2 ? null : (found.maxPriorityFeePerGas ?? null),
    signature: { r: found.r, s: found.s, v: found.v },
  };
  return Transaction.from(fields).serialized;
}
