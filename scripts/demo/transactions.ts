// The pool's transactions: every one that the relayer sends shows events there, and the story has no others.
import type { JsonRpcProvider, TransactionReceipt } from "ethers";

export class Transactions {
  /** All so far, in the order of the chain. */
  readonly receipts: TransactionReceipt[] = [];
  readonly #provider: JsonRpcProvider;
  readonly #pool: string;
  #block: number;

  /** @param block after which the story begins */
  constructor(provider: JsonRpcProvider, pool: string, block: number) {
    this.#provider = provider;
    this.#pool = pool;
    this.#block = block;
  }

  /** Reads what is new. @returns that alone */
  async news(): Promise<TransactionReceipt[]> {
    const toBlock = await this.#provider.getBlockNumber();
    const fromBlock = this.#block + 1;
    if (toBlock < fromBlock) return [];
    const logs = await this.#provider.getLogs({ address: this.#pool, fromBlock, toBlock });
    const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))];
    const found = await Promise.all(hashes.map((hash) => this.#provider.getTransactionReceipt(hash)));
    const news = found.filter((receipt) => receipt !== null);
    this.#block = toBlock;
    this.receipts.push(...news);
    return news;
  }
}
