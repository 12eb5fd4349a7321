import type { PoolPage } from "@sotto/chain";
import type { NoteReader } from "./note-reader.ts";
import { emptyPage, type Page } from "./page.ts";
import type { OwnNote } from "./payment-group.ts";
import type { NoteScanner } from "./scanner.ts";

/** Converts a page of events to a page of the wallet, with the notes and spends that the scanner finds in it. */
export async function scanPage(
  { from, to, hash, timestamp, events, leaves, appends }: PoolPage,
  reader: NoteReader,
  scanner?: NoteScanner,
  meanwhile?: () => boolean,
): Promise<Page> {
  const page = emptyPage(from, to, hash, timestamp);
  for (const append of appends) page.appends.push(append);
  for (const { leaf, blockNumber } of leaves) {
    page.leaves.push(leaf);
    const run = page.runs.at(-1);
    if (run?.[0] === blockNumber) run[1] += 1;
    else page.runs.push([blockNumber, 1]);
  }
  if (scanner === undefined) return page;
  const received: (OwnNote | null)[] = [];
  for (const { viewer, payments, own } of scanner.groups(events.filter((event) => event.type === "settled")))
    received.push(...own(await reader.read(viewer, payments, meanwhile)));
  const { notes, spends } = scanner.scan(events, received);
  return { ...page, notes, spends };
}
