// A step of the story: somebody acts, and everybody tells what they see now.
import { appendCall, type Call, sendCall } from "@sotto/client";
import { columns, paint, progress } from "./terminal.ts";
import type { World } from "./world.ts";

/** What payer, merchant and an observer of the chain know after a step; each text is one thing. */
export interface Scene {
  readonly payer: readonly string[];
  readonly merchant: readonly string[];
  readonly observer: readonly string[];
}

export interface Step {
  readonly title: string;
  play(world: World): Promise<Scene>;
}

/** The relayer sends a call: it pays the gas, and it is all that the chain sees of who acted. */
export async function relay(world: World, call: Call) {
  const receipt = await sendCall(world.relayer.signer, call);
  world.receipts.push(receipt);
  return receipt;
}

/** The relayer moves what waits in the queue into the tree. */
export async function append(world: World) {
  const { appender } = world.relayer;
  const { append: call } = await progress(world.screen, "proving the append", () => appender.prepare());
  return relay(world, appendCall(world.pool, call));
}

/** Plays a step and prints it, with its gas and seconds. */
export async function playStep(world: World, number: number, { title, play }: Step): Promise<void> {
  const { screen, receipts } = world;
  screen.write(`\n${paint(screen, "bold", `${number}. ${title}`)}\n`);
  const start = performance.now();
  const sent = receipts.length;
  const { payer, merchant, observer } = await play(world);
  const gas = receipts.slice(sent).reduce((sum, receipt) => sum + receipt.gasUsed, 0n);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  screen.write(columns(["PAYER", "MERCHANT", "OBSERVER OF THE CHAIN"], [payer, merchant, observer], screen));
  const cost = gas === 0n ? "no transaction" : `${gas.toLocaleString("en")} gas, paid by the relayer`;
  screen.write(paint(screen, "dim", `   ${cost}; ${seconds} s\n`));
}
