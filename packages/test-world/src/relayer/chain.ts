// A real local chain in a process of its own. Tests use it to act on the chain without the relayer's knowledge. All test
// files of a run share one, because starting it takes longer than many tests.

import { type LocalNode, startDeployedNode } from "@sotto/local/chain/node";
import { type DeploymentManifest, type DepositCall, NoteTree, shieldedPoolAbi } from "@sotto/protocol";
import { atEnd } from "@sotto/test-kit/at-end";
import { Random } from "@sotto/test-kit/random";
import { type Payment, provePayment, proveWithdrawal, type WithdrawalFields } from "@sotto/test-pool/statements";
import {
  Contract,
  type ContractTransactionResponse,
  JsonRpcProvider,
  type Overrides,
  type TransactionReceipt,
  Wallet,
} from "ethers";

const TOKEN_ABI = [
  "function mint(address, uint256)",
  "function approve(address, uint256) returns (bool)",
  "function balanceOf(address) view returns (uint256)",
];

/** The relayer's key: Hardhat's public test account 1. */
export const RELAYER_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/** The key of another sender: Hardhat's public test account 2. */
export const OTHER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";

export class TestChain {
  readonly node: LocalNode;
  readonly deployment: DeploymentManifest;
  readonly provider: JsonRpcProvider;
  readonly random: Random;
  /** The pool, called from the test's own account, 0. */
  readonly pool: Contract;
  readonly token: Contract;
  /** A root that the pool knows; it comes from an append made for the tests. */
  root = 0n;
  /** Snapshot of the chain after its start. */
  #started: unknown;

  private constructor(node: LocalNode, deployment: DeploymentManifest, provider: JsonRpcProvider, payer: Wallet) {
    this.node = node;
    this.deployment = deployment;
    this.provider = provider;
    this.random = new Random(deployment.pool + Date.now());
    this.pool = new Contract(deployment.pool, shieldedPoolAbi, payer);
    this.token = new Contract(deployment.token, TOKEN_ABI, payer);
  }

  /** Starts a chain of the caller's own. */
  static async start(): Promise<TestChain> {
    const node = await startDeployedNode();
    const { deployment } = node;
    const options = { staticNetwork: true, cacheTimeout: -1, pollingInterval: 20, batchMaxCount: 1 };
    const provider = new JsonRpcProvider(node.url, undefined, options);
    // Hardhat's public test account 0.
    const payer = new Wallet("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", provider);
    const chain = new TestChain(node, deployment, provider, payer);
    await (await chain.token.getFunction("mint")(payer.address, 10n ** 15n)).wait();
    await (await chain.token.getFunction("approve")(deployment.pool, 10n ** 15n)).wait();
    await chain.#makeRoot();
    return chain;
  }

  /** Opens the chain that all test files share, as it was after its start. */
  static async open(): Promise<TestChain> {
    if (shared === undefined) shared = await TestChain.start();
    else await shared.rpc("evm_revert", shared.#started);
    // A snapshot can be restored once.
    shared.#started = await shared.rpc("evm_snapshot");
    // Restoring a snapshot moves the chain's clock ahead, by the time since the snapshot.
    await shared.rpc("evm_setNextBlockTimestamp", Math.ceil(Date.now() / 1000));
    await shared.mine();
    await shared.automine(true);
    return shared;
  }

  async stop(): Promise<void> {
    this.provider.destroy();
    await this.node.stop();
  }

  get place() {
    return { chainId: 31337n, pool: this.deployment.pool };
  }

  rpc(method: string, ...params: unknown[]): Promise<unknown> {
    return this.provider.send(method, params);
  }

  /** Timestamp of the next block, seconds; the previous block may be much older. */
  async now(): Promise<number> {
    const { timestamp } = (await this.rpc("eth_getBlockByNumber", "pending", false)) as { timestamp: string };
    return Number(timestamp);
  }

  async deposit(amounts: readonly bigint[] = [1_000_000n]): Promise<TransactionReceipt> {
    const tags = amounts.map(() => this.random.field());
    // The gas depends on the second in which it is mined: whether it begins a checkpoint.
    const submit = this.pool.getFunction("deposit")(tags, [...amounts], { gasLimit: 8_000_000n });
    return (await (await submit).wait()) as TransactionReceipt;
  }

  /** Submits an authorized deposit from the test's own account instead of the relayer's. */
  submitDeposit(call: DepositCall, overrides: Overrides = {}): Promise<ContractTransactionResponse> {
    const { from, ownerTags, amounts, salt, validAfter, validBefore, signature } = call;
    const submit = this.pool.getFunction("depositWithAuthorization");
    // See `deposit`.
    const options = { gasLimit: 2_000_000n, ...overrides };
    return submit(from, ownerTags, amounts, salt, validAfter, validBefore, signature, options);
  }

  /** A payment that the pool accepts, with a forged proof. @param seconds how long it stays valid */
  async payment(seconds = 180, nullifier?: bigint): Promise<Payment> {
    const validUntil = BigInt((await this.now()) + seconds);
    return provePayment(this.place, this.random, {
      root: this.root,
      validUntil,
      nullifier,
    });
  }

  async withdrawal(fields: Partial<WithdrawalFields> = {}) {
    const validUntil = BigInt((await this.now()) + 180);
    const nullifiers = [this.random.field(), this.random.field()];
    const recipient = this.random.address();
    return proveWithdrawal(this.place, this.random, {
      root: this.root,
      validUntil,
      amount: 0n,
      nullifiers,
      recipient,
      ...fields,
    });
  }

  /** Settles payments from the test's own account instead of the relayer's. */
  async settle(...payments: Payment[]): Promise<TransactionReceipt> {
    const submit = this.pool.getFunction("settle")(payments, { gasLimit: 8_000_000n });
    return (await (await submit).wait()) as TransactionReceipt;
  }

  /** Hashes of the transactions in which the pool settled this nullifier. */
  async settlements(nullifier: bigint): Promise<string[]> {
    const topic = `0x${nullifier.toString(16).padStart(64, "0")}`;
    const event = this.pool.interface.getEvent("Settled")!.topicHash;
    const logs = await this.provider.getLogs({
      address: this.deployment.pool,
      topics: [event, topic],
      fromBlock: this.deployment.deploymentBlock,
    });
    return logs.map(({ transactionHash }) => transactionHash);
  }

  async mine(blocks = 1): Promise<void> {
    await this.rpc("hardhat_mine", `0x${blocks.toString(16)}`);
  }

  /** Moves the chain's time, so that leaves that are queued now are not in the checkpoint of those before. */
  nextSecond(): Promise<unknown> {
    return this.rpc("evm_increaseTime", 1);
  }

  automine(on: boolean): Promise<unknown> {
    return this.rpc("evm_setAutomine", on);
  }

  /** Makes one append, because the pool accepts only known roots, even for a forged proof. */
  async #makeRoot(): Promise<void> {
    const receipt = await this.deposit();
    const { appendDeposit } = await import("@sotto/test-pool/append");
    this.root = await appendDeposit(this.pool, this.place, new NoteTree(), receipt);
  }
}

let shared: TestChain | undefined;
atEnd(async () => shared?.stop());
