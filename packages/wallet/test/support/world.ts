import { appendCall, settleCall, withdrawCall } from "@sotto/chain/ethers";
import { randomSeed } from "@sotto/protocol";
import { LocalChain, SENDER } from "@sotto/test-chain/chain";
import { LocalPool, POOL } from "@sotto/test-chain/pool";
import { LocalToken } from "@sotto/test-chain/token";
import {
  MemoryStore,
  NoteAppender,
  type Payment,
  type Store,
  Wallet,
  type WalletOptions,
  type Withdrawal,
} from "@sotto/wallet";
import { OracleProver } from "./oracle-prover.ts";

export const URL = "https://data.example/article/1";
/** Wallet address of the recipient. */
export const MERCHANT = `0x${"ab".repeat(20)}`;

/** A chain with a token and a pool, and helpers that send the wallets' requests. */
export class World {
  readonly token = new LocalToken(SENDER, 1_000_000_000n);
  readonly pool: LocalPool;
  readonly chain: LocalChain;
  readonly prover = new OracleProver();
  #appender: Promise<NoteAppender> | undefined;

  /** @param pool address of the pool */
  constructor(pool: string = POOL) {
    this.pool = new LocalPool(this.token, pool);
    this.chain = new LocalChain([this.pool, this.token]);
  }

  /** The chain's time, ms. */
  readonly clock = (): number => this.chain.time * 1000;

  options(changes: Partial<WalletOptions> = {}): WalletOptions {
    return {
      seed: randomSeed(),
      chain: this.chain,
      chainId: 31337n,
      pool: this.pool.address,
      deploymentBlock: 0,
      store: new MemoryStore(),
      prover: this.prover,
      finality: 0,
      clock: this.clock,
      ...changes,
    };
  }

  wallet(changes: Partial<WalletOptions> = {}): Promise<Wallet> {
    return Wallet.open(this.options(changes));
  }

  /** A scanned wallet with these spendable notes. */
  async funded(amounts: bigint[], changes: Partial<WalletOptions> = {}): Promise<Wallet> {
    const wallet = await this.wallet(changes);
    await this.deposit(wallet, amounts);
    await this.append();
    await wallet.scan();
    return wallet;
  }

  async deposit(wallet: Wallet, amounts: bigint[]): Promise<void> {
    const { approve, deposit } = await wallet.deposit({ amounts });
    this.chain.mine(approve, deposit);
  }

  settle(...payments: Payment[]) {
    return this.chain.mine(
      settleCall(
        this.pool.address,
        payments.map(({ settle }) => settle),
      ),
    );
  }

  withdraw({ withdraw }: Withdrawal) {
    return this.chain.mine(withdrawCall(this.pool.address, withdraw));
  }

  /** Appends all queued leaves. */
  async append(): Promise<number> {
    this.#appender ??= NoteAppender.open({
      chain: this.chain,
      chainId: 31337n,
      pool: this.pool.address,
      deploymentBlock: 0,
      store: new MemoryStore(),
      prover: this.prover,
    });
    const appender = await this.#appender;
    let appends = 0;
    for (; this.pool.queued > 0; appends += 1)
      this.chain.mine(appendCall(this.pool.address, (await appender.prepare()).append));
    return appends;
  }

  recipient(wallet: Wallet) {
    return { wallet: MERCHANT, shieldedAddress: wallet.shieldedAddress };
  }
}

/** A store that calls `before` ahead of each write. Closing it leaves the other open. */
export function watchedStore(store: Store, before: () => void | Promise<void>): Store {
  const write = async (action: () => Promise<void>) => {
    await before();
    return action();
  };
  return {
    get: (key) => store.get(key),
    list: (prefix) => store.list(prefix),
    batch: (changes) => write(() => store.batch(changes)),
    put: (key, value, expected) => write(() => store.put(key, value, expected)),
    delete: (key, expected) => write(() => store.delete(key, expected)),
    close: async () => undefined,
  };
}

/** A store that fails before its n-th write (from 0), or after it if `after` is set; every later call fails too. */
export function dyingStore(store: Store, writes: number, after: boolean): Store {
  let left = writes;
  let dead = false;
  const alive = () => {
    if (dead) throw new Error("the process died");
  };
  const write = async (action: () => Promise<void>) => {
    alive();
    if (left > 0) {
      left -= 1;
      return action();
    }
    if (after) await action();
    dead = true;
    throw new Error("the process died");
  };
  return {
    get: async (key) => {
      alive();
      return store.get(key);
    },
    list: async (prefix) => {
      alive();
      return store.list(prefix);
    },
    batch: (changes) => write(() => store.batch(changes)),
    put: (key, value, expected) => write(() => store.put(key, value, expected)),
    delete: (key, expected) => write(() => store.delete(key, expected)),
    close: async () => undefined,
  };
}
