import { getBytes, type TransactionReceipt } from "ethers";
import { authorize, depositMessage, sendDeposit } from "./authorization.ts";
import { SMALLEST_DEPOSIT } from "./deploy.ts";
import { appendTuple, PoolWorld, withdrawArgument } from "./pool-world.ts";
import { useRingSlot } from "./storage.ts";

/** Gas of one kind of transaction. */
export interface GasFigure {
  /** What was paid for this transaction. */
  readonly gas: number;
  /**
   * Without the price of its calldata, where each byte that happens to be 0 saves 12: the part that is the same in every
   * run.
   */
  readonly execution: number;
}

export type GasFigures = Record<
  "settle.1" | "settle.1.reused" | "settle.8" | "append.64" | "deposit.approve" | "deposit.eip3009" | "withdraw.8",
  GasFigure
>;

async function figure(world: PoolWorld, receipt: TransactionReceipt): Promise<GasFigure> {
  const transaction = await world.deployed.connection.ethers.provider.getTransaction(receipt.hash);
  const calldata = getBytes(transaction!.data).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0);
  return { gas: Number(receipt.gasUsed), execution: Number(receipt.gasUsed) - calldata };
}

/**
 * The pool's transactions, each as it is in daily use: none is the pool's first of its kind, each is alone in its block
 * and closes the checkpoint of the one before, into a ring slot never used before unless it says otherwise. Recipients
 * of a withdrawal have no tokens yet.
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

  // The first of each kind.
  await deployed.token.mint(payer!.address, SMALLEST_DEPOSIT * 10n);
  await world.withRoot();
  await approved();
  await sponsored();
  await settle(1);
  await settle(8);
  await withdraw();
  await world.append();

  const first = await approved();
  const figures = {
    "settle.1": await settle(1),
    "settle.8": await settle(8),
    "deposit.approve": await approved(),
    "deposit.eip3009": await sponsored(),
    "withdraw.8": await withdraw(),
  };
  if (first.gas > figures["deposit.approve"].gas) throw new Error("the deposit after an append opens no ring slot");
  await useRingSlot(deployed, (await pool.queue()).open % (await pool.ringSize()));
  const reused = await settle(1);

  // 32 payments, each in a block of its own, appended when they are old and others have come since.
  while (world.queue.groups().length > 0) await world.append();
  for (let i = 0; i < 34; i++) await settle(1);
  const args = world.appendArguments();
  if (args[1].length !== 64) throw new Error(`${args[1].length} leaves instead of 64`);
  await deployed.connection.networkHelpers.time.increase(130);
  const append = await figure(world, await world.mined(pool.append(...appendTuple(args))));
  return { ...figures, "settle.1.reused": reused, "append.64": append };
}
