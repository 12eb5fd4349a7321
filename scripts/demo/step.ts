// A step of the story: somebody acts, and everybody tells what they see now.
import { setTimeout as wait } from "node:timers/promises";
import { CommandError } from "../lib/command.ts";
import { observe } from "./observer.ts";
import { seenInRequests } from "./service-view.ts";
import { columns, paint, progress, type Screen, say } from "./terminal.ts";
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

/** What everybody knows now, side by side; nothing at all where nothing is new to anybody. */
function tell(screen: Screen, { agent = [], merchant = [] }: Scene, observed: string[], asked: string[]): void {
  const news = [agent, merchant, observed, asked];
  if (news.every((texts) => texts.length === 0)) return;
  const observer = orNothing(observed, "nothing: no transaction");
  const all = Object.entries({ AGENT: agent, MERCHANT: merchant, "OBSERVER OF THE CHAIN": observer });
  const told = all.filter(([, texts]) => texts.length > 0);
  const titles = told.map(([who]) => who);
  const texts = told.map(([, lines]) => lines);
  screen.write(`\n${columns(titles, texts, screen)}`);
  screen.write(columns(["SERVICE"], [orNothing(asked, "nothing: no request")], screen));
}

/** Plays a step and prints it, with its gas and seconds. */
export async function playStep(world: World, number: number, { title, play }: Step): Promise<void> {
  const { screen, transactions, wire, pool } = world;
  screen.write(`\n${paint(screen, "bold", `${number}. ${title}`)}\n`);
  const start = performance.now();
  const scene = await play(world);
  const receipts = await transactions.news();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  tell(screen, scene, observe(pool, receipts), seenInRequests(wire.news()));
  const gas = receipts.reduce((sum, receipt) => sum + receipt.gasUsed, 0n);
  const count = receipts.length === 1 ? "1 transaction" : `${receipts.length} transactions`;
  const cost = gas === 0n ? "no transaction" : `${count}, ${gas.toLocaleString("en")} gas, paid by the relayer`;
  say(screen, `${cost}; ${seconds} s`, "dim");
}
