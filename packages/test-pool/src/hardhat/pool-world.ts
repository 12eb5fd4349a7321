import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import {
  appendChallenge,
  depositBlinding,
  evaluateAppend,
  NoteTree,
  noteCommitment,
  withdrawalStatementHash,
} from "@sotto/protocol";
import { Random } from "@sotto/test-kit/random";
import type { ContractTransactionResponse, TransactionReceipt } from "ethers";
import {
  type Payment,
  type PaymentFields,
  provePayment,
  proveWithdrawal,
  type Withdrawal,
  type WithdrawalFields,
} from "../statements.ts";
import { connect, type Deployed, type DeployOptions, deployPool, SMALLEST_DEPOSIT } from "./deploy.ts";
import { type AppendCall, QueueModel } from "./queue-model.ts";

/** A withdrawal in the form that the contract's `withdraw` takes. */
export type ProvedWithdrawal = Withdrawal & { readonly statementHash: bigint };

/** Adds the hash of the statement. */
export const withHash = (withdrawal: Withdrawal): ProvedWithdrawal => ({
  ...withdrawal,
  statementHash: withdrawalStatementHash(withdrawal.signals),
});

/** Arguments of `append`. */
export type AppendArguments = [newRoot: bigint, leaves: readonly bigint[], proof: readonly string[], sequence: bigint];

/** A pool with its oracle: the tree and the queue that this class's calls must produce. */
export class PoolWorld {
  readonly deployed: Deployed;
  readonly random: Random;
  readonly tree = new NoteTree();
  readonly queue: QueueModel;

  constructor(deployed: Deployed, random: Random, ringSize?: number) {
    this.deployed = deployed;
    this.random = random;
    this.queue = new QueueModel(ringSize);
  }

  static async create(seed: string, options: DeployOptions & { chainId?: number } = {}): Promise<PoolWorld> {
    const deployed = await deployPool(await connect(options.chainId, options.sharesTimes), options);
    const world = new PoolWorld(deployed, new Random(seed), options.ringSize);
    const [payer] = deployed.signers;
    await deployed.token.mint(payer!.address, 10n ** 15n);
    await deployed.token.approve(deployed.poolAddress, 10n ** 15n);
    return world;
  }

  get deployment(): { chainId: bigint; pool: string } {
    return { chainId: this.deployed.chainId, pool: this.deployed.poolAddress };
  }

  get pool(): Deployed["pool"] {
    return this.deployed.pool;
  }

  /** The contract's keccak chain after all leaves. */
  async chain(): Promise<string> {
    return this.pool.checkpoint((await this.pool.queue()).newest);
  }

  async now(): Promise<number> {
    return (await this.deployed.connection.ethers.provider.getBlock("latest"))!.timestamp;
  }

  /** A validUntil some minutes ahead of the chain's clock. */
  async soon(): Promise<bigint> {
    return BigInt((await this.now()) + 180);
  }

  /** Records in the oracle what a mined transaction queued, from its events. */
  async record(receipt: TransactionReceipt): Promise<void> {
    const { timestamp } = await receipt.getBlock();
    for (const log of receipt.logs) {
      if (log.address !== this.deployed.poolAddress) continue;
      const event = this.pool.interface.parseLog(log);
      if (event === null) continue;
      const { commitment, recipientCommitment, changeCommitment } = event.args.toObject();
      const leaves = event.name === "Settled" ? [recipientCommitment, changeCommitment] : [commitment];
      if (event.name === "Appended" || event.name === "Skipped") continue;
      this.queue.push(leaves, timestamp);
    }
  }

  async mined(sent: Promise<ContractTransactionResponse>): Promise<TransactionReceipt> {
    const receipt = await (await sent).wait();
    if (receipt === null) throw new Error("the transaction was not mined");
    await this.record(receipt);
    return receipt;
  }

  /** Deposits notes from the first signer's account. */
  async deposit(amounts: readonly bigint[] = [SMALLEST_DEPOSIT]): Promise<TransactionReceipt> {
    const tags = amounts.map(() => this.random.field());
    return this.mined(this.pool.deposit(tags, [...amounts]));
  }

  depositBlinding(leafIndex: number): bigint {
    return depositBlinding(this.deployment, leafIndex);
  }

  /** The commitment that the pool must compute for a deposited note. */
  depositCommitment(amount: bigint, ownerTag: bigint, leafIndex: number): bigint {
    return noteCommitment({ amount, ownerTag, blinding: this.depositBlinding(leafIndex) });
  }

  async payment(fields: Partial<PaymentFields> = {}): Promise<Payment> {
    const validUntil = fields.validUntil ?? (await this.soon());
    return provePayment(this.deployment, this.random, { root: this.tree.root, ...fields, validUntil });
  }

  async withdrawal(fields: Partial<WithdrawalFields> = {}): Promise<ProvedWithdrawal> {
    const nullifiers = fields.nullifiers ?? [this.random.field()];
    const defaults = { root: this.tree.root, amount: 0n, nullifiers, recipient: this.random.address() };
    const validUntil = fields.validUntil ?? (await this.soon());
    return withHash(proveWithdrawal(this.deployment, this.random, { ...defaults, ...fields, validUntil }));
  }

  async settle(...payments: readonly Payment[]): Promise<TransactionReceipt> {
    return this.mined(this.pool.settle(settleArguments(payments)));
  }

  /** The arguments of an append of the first `count` pending checkpoints, with its proof. */
  appendArguments(
    count = this.queue.longest(),
    change: Partial<AppendCall & { newRoot: bigint }> = {},
  ): AppendArguments {
    const call = { ...this.queue.appendCall(count), ...change };
    const newRoot = change.newRoot ?? this.tree.rootAfter(call.leaves);
    const statement = {
      ...this.deployment,
      oldRoot: this.tree.root,
      newRoot,
      startIndex: call.startIndex,
      leaves: call.leaves,
    };
    const z = appendChallenge(statement);
    const signals = [newRoot, z, evaluateAppend(z, statement)];
    return [newRoot, call.leaves, proveWithTrapdoor("note_append", signals).proof, call.sequence];
  }

  /** Appends the first `count` pending checkpoints, in the contract and in the oracle. */
  async append(count = this.queue.longest()): Promise<TransactionReceipt> {
    const receipt = await this.mined(this.pool.append(...appendTuple(this.appendArguments(count))));
    this.tree.append(this.queue.consume(count));
    return receipt;
  }

  /** Deposits one note and appends it, so that there is a known root. */
  async withRoot(): Promise<this> {
    await this.deposit([1_000_000n]);
    await this.append();
    return this;
  }
}

type Fixed<T> = T extends readonly [infer A, ...infer Rest] ? [A, ...Rest] : never;
export type SettleArgument = Parameters<Deployed["pool"]["settle"]>[0];
export type WithdrawArgument = Parameters<Deployed["pool"]["withdraw"]>[0];

/** ethers types fixed arrays as tuples; the ABI checks their lengths. */
export const settleArguments = (payments: readonly Payment[]): SettleArgument => payments as unknown as SettleArgument;

export const withdrawArgument = (withdrawal: ProvedWithdrawal): WithdrawArgument =>
  withdrawal as unknown as WithdrawArgument;

type AppendTuple = Fixed<Parameters<Deployed["pool"]["append"]>>;
export const appendTuple = (args: AppendArguments): [AppendTuple[0], AppendTuple[1], AppendTuple[2], AppendTuple[3]] =>
  args as unknown as [AppendTuple[0], AppendTuple[1], AppendTuple[2], AppendTuple[3]];
