// Purchases on a world, and the audit of all of them on chain: each is settled once or never, as the books say, and every
// balance is exact.
import { shieldedPoolAbi } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { claimsOf } from "@sotto/test-kit/http";
import { fund, openWallet, type PayerOptions, type World } from "@sotto/test-world/wallets";
import {
  createSeedWords,
  type Outcome,
  type Payment,
  type SottoService,
  seedFromWords,
  type Wallet,
} from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Contract, type EventLog } from "ethers";

/** The calls of a service that the books need. */
export type Service = Pick<SottoService, "verify" | "settle" | "status" | "withdraw">;

/** A payment, and how it must end. */
interface Entry {
  readonly payment: Payment;
  readonly amount: bigint;
  readonly by: Wallet;
  state: "settled" | "failed" | "expired";
}

/** The owner of a seed: one wallet, or several that share the seed and not the store. */
interface Holder {
  readonly seed: Uint8Array;
  readonly wallets: Wallet[];
  deposited: bigint;
}

/** A payment that the service has verified. */
export interface Verified {
  readonly payment: Payment;
  readonly paymentToken: string;
  /** Settles it. @returns the hash of the transaction */
  settle(): Promise<string>;
  /** What the service answers about it, once it was to be settled. */
  outcome(): Promise<Outcome>;
}

export interface Terms {
  /** Default: the payer of the books. */
  readonly by?: Wallet;
  /** Account of the merchant. Default: a new one. */
  readonly account?: string;
  readonly resourceUrl?: string;
}

export class Books {
  readonly world: World;
  readonly payer: Wallet;
  readonly merchant: Wallet;
  readonly #service: Service;
  readonly #options: PayerOptions;
  readonly #pool: Contract;
  readonly #token: Contract;
  readonly #holders: Holder[] = [];
  readonly #entries: Entry[] = [];
  readonly #withdrawn = new Map<string, bigint>();

  private constructor(world: World, service: Service, options: PayerOptions, payer: Holder, merchant: Wallet) {
    this.world = world;
    this.#service = service;
    this.#options = options;
    this.#holders.push(payer);
    this.payer = payer.wallets[0]!;
    this.merchant = merchant;
    this.#pool = new Contract(world.pool, shieldedPoolAbi, world.provider);
    this.#token = new Contract(world.token, ["function balanceOf(address) view returns (uint256)"], world.provider);
  }

  /**
   * Opens the books of a world's pool, which nobody has used yet.
   * @param options of all wallets
   */
  static async open(world: World, service: Service = world.service, options: PayerOptions = {}): Promise<Books> {
    const payer = await openHolder(world, options);
    return new Books(world, service, options, payer, await openWallet(world, options));
  }

  /** Deposits notes for the payer. */
  async deposit(...amounts: bigint[]): Promise<void> {
    await this.#fund(this.#holders[0]!, amounts);
  }

  /** Another payer, with these notes. */
  async newPayer(...amounts: bigint[]): Promise<Wallet> {
    const holder = await openHolder(this.world, this.#options);
    this.#holders.push(holder);
    await this.#fund(holder, amounts);
    return holder.wallets[0]!;
  }

  /** A second wallet with the seed of `wallet`, which does not know what the first one pays. */
  async twinOf(wallet: Wallet): Promise<Wallet> {
    const holder = this.#holderOf(wallet);
    const twin = await openWallet(this.world, { ...this.#options, seed: holder.seed });
    await twin.scan();
    holder.wallets.push(twin);
    return twin;
  }

  /** A reorganization removed all deposits of this wallet forever. */
  lostDeposits(wallet: Wallet): void {
    this.#holderOf(wallet).deposited = 0n;
  }

  /** Makes a payment that the chain has not seen. */
  async prepared(amount: bigint, terms: Terms = {}): Promise<Payment> {
    const { by = this.payer, account = Account.createRandom().address, resourceUrl } = terms;
    const recipient = { wallet: account, shieldedAddress: this.merchant.shieldedAddress };
    const url = resourceUrl ?? "https://data.example/article/1";
    const payment = await by.pay({ recipient, amount, resourceUrl: url });
    this.#entries.push({ payment, amount, by, state: "settled" });
    return payment;
  }

  /** Makes a payment that the service has verified but that is not settled yet. */
  async verified(amount: bigint, terms: Terms = {}): Promise<Verified> {
    return this.verify(await this.prepared(amount, terms));
  }

  async verify(payment: Payment): Promise<Verified> {
    const { paymentToken } = await this.#service.verify(payment.bundle);
    const settle = async () => (await this.#service.settle(payment.bundle, paymentToken)).txSignature;
    const outcome = () => this.#service.status(String(claimsOf(paymentToken)["jti"]));
    return { payment, paymentToken, settle, outcome };
  }

  /** Makes a payment and settles it through the service. */
  async pay(amount: bigint): Promise<string> {
    return (await this.verified(amount)).settle();
  }

  /** Records that this payment must never be settled, and how its wallet sees it. */
  refused({ id }: Payment, state: "failed" | "expired"): void {
    this.#entries.find(({ payment }) => payment.id === id)!.state = state;
  }

  /** The merchant withdraws to a new account, through the service. */
  async withdraw(amount: bigint): Promise<void> {
    const { address } = Account.createRandom();
    // The merchant can spend the payments once the relayer has appended their notes.
    await eventually(async () => {
      await this.merchant.scan();
      return this.merchant.balance().spendable >= amount;
    });
    const { withdraw } = await this.merchant.withdraw({ recipient: address, amount });
    this.#withdrawn.set(address, amount);
    await this.#service.withdraw(withdraw);
  }

  /** Compares the chain and all wallets with the books. Waits until every note of the pool can be spent. */
  async audit(): Promise<void> {
    const settled = this.#entries.filter(({ state }) => state === "settled");
    const paid = sum(settled.map(({ amount }) => amount));
    const withdrawn = sum([...this.#withdrawn.values()]);
    const wallets = [this.merchant, ...this.#holders.flatMap((holder) => holder.wallets)];
    await eventually(async () => {
      await Promise.all(wallets.map((wallet) => wallet.scan()));
      return wallets.every((wallet) => wallet.balance().spendable === wallet.balance().total);
    });
    expect(this.merchant.balance().spendable, "of the merchant").to.equal(paid - withdrawn);
    for (const holder of this.#holders) {
      const spent = settled.filter(({ by }) => holder.wallets.includes(by)).map(({ amount }) => amount);
      for (const wallet of holder.wallets)
        expect(wallet.balance().spendable, "of a payer").to.equal(holder.deposited - sum(spent));
    }
    await this.#auditPayments();
    await this.#auditTokens();
  }

  /** Each payment was settled once, or never, and nothing else was. */
  async #auditPayments(): Promise<void> {
    const onChain = (await this.#events("Settled")).map(({ args }) => String(args["digest"]));
    const settled = this.#entries.filter(({ state }) => state === "settled");
    expect(onChain.toSorted()).to.deep.equal(settled.map(({ payment }) => payment.digest).toSorted());
    for (const { payment, by, state } of this.#entries) expect(by.status(payment.id).state).to.equal(state);
  }

  /** The pool holds what was deposited and not withdrawn, and that is what the wallets have. */
  async #auditTokens(): Promise<void> {
    const balanceOf = async (address: string) => BigInt(await this.#token.getFunction("balanceOf")(address));
    for (const [address, amount] of this.#withdrawn) expect(await balanceOf(address)).to.equal(amount);
    const [deposits, withdrawals] = [await this.#events("Deposited"), await this.#events("Withdrawn")];
    const amounts = (events: readonly EventLog[]) => sum(events.map(({ args }) => BigInt(args["amount"])));
    const held = amounts(deposits) - amounts(withdrawals);
    expect(await balanceOf(this.world.pool)).to.equal(held);
    const wallets = [this.merchant, ...this.#holders.map((holder) => holder.wallets[0]!)];
    expect(sum(wallets.map((wallet) => wallet.balance().total))).to.equal(held);
  }

  async #events(name: string): Promise<EventLog[]> {
    return (await this.#pool.queryFilter(name, this.world.deploymentBlock)) as EventLog[];
  }

  async #fund(holder: Holder, amounts: bigint[]): Promise<void> {
    await fund(this.world, holder.wallets[0]!, amounts);
    holder.deposited += sum(amounts);
  }

  #holderOf(wallet: Wallet): Holder {
    return this.#holders.find(({ wallets }) => wallets.includes(wallet))!;
  }
}

async function openHolder(world: World, options: PayerOptions): Promise<Holder> {
  const seed = seedFromWords(createSeedWords());
  return { seed, wallets: [await openWallet(world, { ...options, seed })], deposited: 0n };
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
