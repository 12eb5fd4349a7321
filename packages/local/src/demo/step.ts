// Plays one step of the story and prints what each party learned from it.

import { columns, paint, type Screen, say } from "@sotto/command/terminal";
import { observe, seenInRequests } from "./views.ts";
import type { World } from "./world.ts";

/**
 * What payer and merchant learned from a step, one fact per text. What others learned is read from the chain and the
 * requests.
 */
export interface Scene {
  readonly payer?: readonly string[];
  readonly merchant?: readonly string[];
}

export interface Step {
  readonly title: string;
  play(world: World): Promise<Scene>;
}

const orNothing = (texts: readonly string[], nothing: string) => (texts.length === 0 ? [nothing] : texts);

/** Prints what each party learned, side by side; nothing if nobody learned anything. */
function printScene(screen: Screen, { payer = [], merchant = [] }: Scene, observed: string[], asked: string[]): void {
  if ([payer, merchant, observed, asked].every((texts) => texts.length === 0)) return;
  const observer = orNothing(observed, "nothing: no transaction");
  const parties = Object.entries({ PAYER: payer, MERCHANT: merchant, "OBSERVER OF THE CHAIN": observer });
  const shown = parties.filter(([, texts]) => texts.length > 0);
  const titles = shown.map(([party]) => party);
  const texts = shown.map(([, lines]) => lines);
  screen.write(`\n${columns(titles, texts, screen)}`);
  screen.write(columns(["SERVICE"], [orNothing(asked, "nothing: no request")], screen));
}

export async function playStep(world: World, number: number, { title, play }: Step): Promise<void> {
  const { screen, transactions, wire, pool } = world;
  screen.write(`\n${paint(screen, "bold", `${number}. ${title}`)}\n`);
  const start = performance.now();
  const scene = await play(world);
  const receipts = await transactions.readNew();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  printScene(screen, scene, observe(pool, receipts), seenInRequests(wire.takeNew()));
  const gas = receipts.reduce((sum, receipt) => sum + receipt.gasUsed, 0n);
  const count = receipts.length === 1 ? "1 transaction" : `${receipts.length} transactions`;
  const cost = gas === 0n ? "no transaction" : `${count}, ${gas.toLocaleString("en")} gas, paid by the relayer`;
  say(screen, `${cost}; ${seconds} s`, "dim");
}
