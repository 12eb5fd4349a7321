import type { PoolPage } from "@sotto/chain";
import { emptyPage, type Page } from "./page.ts";
import type { NoteScanner } from "./scanner.ts";

/** Maximum events scanned without a pause; scanning them takes tens of milliseconds. */
const EVENTS_PER_TURN = 256;

/** Converts a page of events to a page of the wallet, with the notes and spends that the scanner finds in it. */
export async function scanPage(
  { from, to, hash, events, leaves, appends }: PoolPage,
  scanner?: NoteScanner,
): Promise<Page> {
  const page = emptyPage(from, to, hash);
  page.appends.push(...appends);
  for (const { leaf, blockNumber } of leaves) {
    page.leaves.push(leaf);
    const run = page.runs.at(-1);
    if (run?.[0] === blockNumber) run[1] += 1;
    else page.runs.push([blockNumber, 1]);
  }
  for (let i = 0; scanner !== undefined && i < events.length; i += EVENTS_PER_TURN) {
    // Yields between batches, so that a browser page does not freeze.
    if (i > 0) await new Promise((resolve) => setTimeout(resolve));
    const { notes, spends } = scanner.scan(events.slice(i, i + EVENTS_PER_TURN));
    page.notes.push(...notes);
    page.spends.push(...spends);
  }
  return page;
}
