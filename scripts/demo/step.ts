// A step of the story: somebody acts, and everybody tells what they see now.
import { setTimeout as wait } from "node:timers/promises";
import type { TransactionReceipt } from "ethers";
import { CommandError } from "../lib/command.ts";
import { columns, paint, progress } from "./terminal.ts";
import type { World } from "./world.ts";

/** What payer, merchant, an observer of the chain and the service know after a step; each text is one thing. */
export interface Scene {
  readonly payer: readonly string[];
  readonly merchant: readonly string[];
  readonly observer: readonly string[];
  readonly service: readonly string[];
}

export interface Step {
  readonly title: string;
  play(world: World): Promise<Scene>;
}

/** A transaction of the story, from its hash: how a service's answer is turned into what the chain says of it. */
export async function receiptOf(world: World, hash: string): Promise<TransactionReceipt> {
  const receipt = await world.provider.getTransactionReceipt(hash);
  if (receipt?.status !== 1) throw new CommandError("NOT_ON_CHAIN", `the chain has no successful transaction ${hash}`);
  world.receipts.push(receipt);
  return receipt;
}

const APPEND_TIMEOUT_MS = 60_000;
const LOOK_MS = 50;

/** Waits until the service, of its own accord, has moved everything queued into the tree. @returns how it did */
export async function appends(world: World): Promise<TransactionReceipt[]> {
  const { poolContract, receipts, screen } = world;
  await progress(screen, "the service proves the append", async () => {
    for (const end = Date.now() + APPEND_TIMEOUT_MS; ; await wait(LOOK_MS)) {
      const { size, appended } = await poolContract.getFunction("queue")();
      if (appended === size) return;
      if (Date.now() > end) throw new CommandError("NOT_APPENDED", `${size - appended} notes still wait in the queue`);
    }
  });
  const known = new Set(receipts.map(({ hash }) => hash));
  const logs = await poolContract.queryFilter("Appended");
  const found: TransactionReceipt[] = [];
  for (const { transactionHash } of logs)
    if (!known.has(transactionHash)) found.push(await receiptOf(world, transactionHash));
  return found;
}

/** Plays a step and prints it, with its gas and seconds. */
export async function playStep(world: World, number: number, { title, play }: Step): Promise<void> {
  const { screen, receipts } = world;
  screen.write(`\n${paint(screen, "bold", `${number}. ${title}`)}\n`);
  const start = performance.now();
  const sent = receipts.length;
  const { payer, merchant, observer, service } = await play(world);
  const gas = receipts.slice(sent).reduce((sum, receipt) => sum + receipt.gasUsed, 0n);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  screen.write(columns(["PAYER", "MERCHANT", "OBSERVER OF THE CHAIN"], [payer, merchant, observer], screen));
  screen.write(columns(["SERVICE"], [service], screen));
  const cost = gas === 0n ? "no transaction" : `${gas.toLocaleString("en")} gas, paid by the relayer`;
  screen.write(paint(screen, "dim", `   ${cost}; ${seconds} s\n`));
}
