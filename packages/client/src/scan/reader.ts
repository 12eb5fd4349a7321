import { type ChainSource, type EventRange, type PageStart, readQueue } from "@sotto/chain";
import { emptyPage, type Page } from "./page.ts";
import type { NoteScanner } from "./scanner.ts";

/** Maximum events scanned without a pause, which takes tens of milliseconds. */
const BREATH = 256;

/** Makes a page of a range. @throws ChainError NODE_INCONSISTENT if events are missing */
export async function readPage(
  chain: ChainSource,
  { from, to, hash, events }: EventRange,
  start: PageStart,
  scanner?: NoteScanner,
): Promise<Page> {
  const page = emptyPage(from, to, hash);
  const { leaves, appends } = readQueue(chain, events, start);
  page.appends.push(...appends);
  for (const { leaf, blockNumber } of leaves) {
    page.leaves.push(leaf);
    const run = page.runs.at(-1);
    if (run?.[0] === blockNumber) run[1] += 1;
    else page.runs.push([blockNumber, 1]);
  }
  for (let i = 0; scanner !== undefined && i < events.length; i += BREATH) {
    // Yields between batches, so that a browser page does not freeze.
    if (i > 0) await new Promise((resolve) => setTimeout(resolve));
    const { notes, spends } = scanner.scan(events.slice(i, i + BREATH));
    page.notes.push(...notes);
    page.spends.push(...spends);
  }
  return page;
}
