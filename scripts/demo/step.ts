// A step of the story: somebody acts, and everybody tells what they see now.
import { setTimeout as wait } from "node:timers/promises";
import { CommandError } from "../lib/command.ts";
import { observe } from "./observer.ts";
import { seenInRequests } from "./service-view.ts";
import { columns, paint, progress } from "./terminal.ts";
import type { World } from "./world.ts";

/**
 * What agent and merchant know after a step, if anything is new to them; each text is one thing. What observer and
 * service know is read from the chain and from their requests.
 */
export interface Scene {
  readonly agent?: readonly string[];
  readonly merchant?: readonly string[];
}

export interface Step {
  readonly title: string;
  play(world: World): Promise<Scene>;
}

const APPEND_TIMEOUT_MS = 60_000;
const LOOK_MS = 50;

/** Waits until the service, of its own accord, has moved everything queued into the tree. */
export async function appended({ poolContract, screen }: World): Promise<void> {
  await progress(screen, "the service proves that the new notes join the tree", async () => {
    for (const end = Date.now() + APPEND_TIMEOUT_MS; ; await wait(LOOK_MS)) {
      const { size, appended } = await poolContract.getFunction("queue")();
      if (appended === size) return;
      if (Date.now() > end) throw new CommandError("NOT_APPENDED", `${size - appended} notes still wait in the queue`);
    }
  });
}

const orNothing = (texts: readonly string[], nothing: string) => (texts.length === 0 ? [nothing] : texts);

/** Plays a step and prints it, with its gas and seconds. */
export async function playStep(world: World, number: number, { title, play }: Step): Promise<void> {
  const { screen, transactions, wire, pool } = world;
  screen.write(`\n${paint(screen, "bold", `${number}. ${title}`)}\n`);
  const start = performance.now();
  const { agent, merchant } = await play(world);
  const receipts = await transactions.news();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const observer = orNothing(observe(pool, receipts), "nothing: no transaction");
  const service = orNothing(seenInRequests(wire.news()), "nothing: no request");
  screen.write("\n");
  const told = [["AGENT", agent] as const, ["MERCHANT", merchant] as const].filter(([, texts]) => texts !== undefined);
  const all = [...told, ["OBSERVER OF THE CHAIN", observer] as const];
  const titles = all.map(([who]) => who);
  screen.write(
    columns(
      titles,
      all.map(([, texts]) => texts ?? []),
      screen,
    ),
  );
  screen.write(columns(["SERVICE"], [service], screen));
  const gas = receipts.reduce((sum, receipt) => sum + receipt.gasUsed, 0n);
  const count = receipts.length === 1 ? "1 transaction" : `${receipts.length} transactions`;
  const cost = gas === 0n ? "no transaction" : `${count}, ${gas.toLocaleString("en")} gas, paid by the relayer`;
  screen.write(paint(screen, "dim", `   ${cost}; ${seconds} s\n`));
}
