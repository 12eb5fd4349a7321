import { getBytes, Transaction, type TransactionReceipt } from "ethers";
import { authorize, depositMessage, sendDeposit } from "./authorization.ts";
import { SMALLEST_DEPOSIT } from "./deploy.ts";
import { appendTuple, PoolWorld, withdrawArgument } from "./pool-world.ts";
import { useRingSlot } from "./storage.ts";

/** Gas of one kind of transaction. */
export interface GasFigure {
  /** Gas used by the transaction. */
  readonly gas: number;
  /**
   * The same without its calldata gas, which is 12 lower for each random byte that is 0. This figure is equal in every
   * run.
   */
  readonly execution: number;
  /** Bytes of calldata. */
  readonly calldata: number;
  /** The signed transaction, RLP-encoded, as a rollup publishes it. */
  readonly transaction: Uint8Array;
}

export type GasFigures = Record<
  | "settle.1"
  | "settle.1.reused"
  | "settle.8"
  | "settle.64"
  | "append.64"
  | "deposit.approve"
  | "deposit.eip3009"
  | "withdraw.8",
  GasFigure
>;

async function figure(world: PoolWorld, receipt: TransactionReceipt): Promise<GasFigure> {
  const transaction = await world.deployed.connection.ethers.provider.getTransaction(receipt.hash);
  const data = getBytes(transaction!.data);
  const cost = data.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0);
  return {
    gas: Number(receipt.gasUsed),
    execution: Number(receipt.gasUsed) - cost,
    calldata: data.length,
    transaction: getBytes(Transaction.from(transaction!).serialized),
  };
}

/**
 * Measures each kind of transaction as in normal operation: it is not the pool's first of its kind and is alone in its
 * block, so it begins a checkpoint. Unless the name says otherwise, the ring slot was never used before. Recipients of a
 * withdrawal have no tokens yet.
 */
export async function measureGas(): Promise<GasFigures> {
  const world = await PoolWorld.create("gas");
  const { deployed, pool, random } = world;
  const settle = async (count: number) => {
    const payments = await Promise.all(Array.from({ length: count }, () => world.payment()));
    return figure(world, await world.settle(...payments));
  };
  const withdraw = async () => {
    const nullifiers = Array.from({ length: 8 }, () => random.field());
    const withdrawal = await world.withdrawal({ amount: 1_000n, nullifiers });
    return figure(world, await world.mined(pool.withdraw(withdrawArgument(withdrawal))));
  };
  const [, relayer, payer] = deployed.signers;
  const sponsored = async () => {
    const notes = { ownerTags: [random.field()], amounts: [SMALLEST_DEPOSIT] };
    const deposit = { from: payer!.address, ...notes, salt: random.bytes32(), validAfter: 0n, validBefore: 2n ** 40n };
    const signature = await authorize(deployed, payer!, depositMessage(deployed, deposit));
    return figure(world, await world.mined(sendDeposit(deployed, relayer!, deposit, signature)));
  };
  const approved = async () => figure(world, await world.deposit());

  // The first transaction of each kind.
  await deployed.token.mint(payer!.address, SMALLEST_DEPOSIT * 10n);
  await world.withRoot();
  await approved();
  await sponsored();
  await settle(1);
  await settle(8);
  await withdraw();
  await world.append();

  const figures = {
    "settle.1": await settle(1),
    "settle.8": await settle(8),
    "settle.64": await settle(64),
    "deposit.approve": await approved(),
    "deposit.eip3009": await sponsored(),
    "withdraw.8": await withdraw(),
  };
  await useRingSlot(deployed, ((await pool.queue()).newest + 1n) % (await pool.ringSize()));
  const reused = await settle(1);

  // 32 payments, each in its own block, appended when further payments have arrived.
  while (world.queue.size > world.queue.appended) await world.append();
  for (let i = 0; i < 34; i++) await settle(1);
  const args = world.appendArguments();
  if (args[1].length !== 64) throw new Error(`expected an append of 64 leaves, got ${args[1].length}`);
  const append = await figure(world, await world.mined(pool.append(...appendTuple(args))));
  return { ...figures, "settle.1.reused": reused, "append.64": append };
}
