// Purchases on a world, and the audit of all of them on chain: each settled once, and every balance exact.
import { shieldedPoolAbi } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { fund, openWallet, type World } from "@sotto/test-world/wallets";
import type { Payment, Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Wallet as Account, Contract, toBeHex } from "ethers";

export class Books {
  readonly world: World;
  readonly payer: Wallet;
  readonly merchant: Wallet;
  readonly #pool: Contract;
  readonly #token: Contract;
  readonly #payments: { readonly payment: Payment; readonly amount: bigint }[] = [];
  readonly #withdrawn = new Map<string, bigint>();
  #deposited = 0n;

  private constructor(world: World, payer: Wallet, merchant: Wallet) {
    this.world = world;
    this.payer = payer;
    this.merchant = merchant;
    this.#pool = new Contract(world.pool, shieldedPoolAbi, world.provider);
    this.#token = new Contract(world.token, ["function balanceOf(address) view returns (uint256)"], world.provider);
  }

  /** Opens the books of a world's pool, which nobody has used yet. */
  static async open(world: World): Promise<Books> {
    return new Books(world, await openWallet(world), await openWallet(world));
  }

  async deposit(...amounts: bigint[]): Promise<void> {
    await fund(this.world, this.payer, amounts);
    this.#deposited += amounts.reduce((sum, amount) => sum + amount, 0n);
  }

  /** Makes a payment that the service has verified but that is not settled yet. @returns a function that settles it */
  async verified(amount: bigint): Promise<() => Promise<string>> {
    const recipient = { wallet: Account.createRandom().address, shieldedAddress: this.merchant.shieldedAddress };
    const resourceUrl = "https://data.example/article/1";
    const payment = await this.payer.pay({ recipient, amount, resourceUrl });
    const { paymentToken } = await this.world.service.verify(payment.bundle);
    this.#payments.push({ payment, amount });
    return async () => (await this.world.service.settle(payment.bundle, paymentToken)).txSignature;
  }

  /** Makes a payment and settles it through the service. */
  async pay(amount: bigint): Promise<string> {
    return (await this.verified(amount))();
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
    await this.world.service.withdraw(withdraw);
    this.#withdrawn.set(address, amount);
  }

  /** Number of times that a payment was settled on chain. */
  async #settlements(nullifier: string): Promise<number> {
    const { topicHash } = this.#pool.interface.getEvent("Settled")!;
    const filter = { address: this.world.pool, topics: [topicHash, toBeHex(BigInt(nullifier), 32)] };
    return (await this.world.provider.getLogs({ ...filter, fromBlock: this.world.deploymentBlock })).length;
  }

  /** Compares the chain and both wallets with the books. Waits until every note of the pool can be spent. */
  async audit(): Promise<void> {
    const spent = this.#payments.reduce((sum, { amount }) => sum + amount, 0n);
    const withdrawn = [...this.#withdrawn.values()].reduce((sum, amount) => sum + amount, 0n);
    const expected = { payer: this.#deposited - spent, merchant: spent - withdrawn };
    await eventually(async () => {
      await Promise.all([this.payer.scan(), this.merchant.scan()]);
      const [payer, merchant] = [this.payer.balance(), this.merchant.balance()];
      return payer.spendable === payer.total && merchant.spendable === merchant.total;
    });
    const found = { payer: this.payer.balance().spendable, merchant: this.merchant.balance().spendable };
    expect(found).to.deep.equal(expected);
    for (const { payment } of this.#payments) {
      expect(await this.#settlements(payment.nullifier)).to.equal(1);
      expect(this.payer.status(payment.id).state).to.equal("settled");
    }
    const balanceOf = async (address: string) => BigInt(await this.#token.getFunction("balanceOf")(address));
    for (const [address, amount] of this.#withdrawn) expect(await balanceOf(address)).to.equal(amount);
    expect(await balanceOf(this.world.pool)).to.equal(this.#deposited - withdrawn);
  }
}
