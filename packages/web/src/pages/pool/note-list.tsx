import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useRef } from "react";
import { Amount } from "../../components/amount.tsx";
import { Time } from "../../components/time.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import type { NoteRow, PoolSummary } from "../../engine/pool-feed-api.ts";
import { formatCount } from "../../lib/age.ts";
import { toBytes32 } from "../../lib/bytes32.ts";
import { useNotes } from "./use-notes.ts";

const ROW_HEIGHT = 48;
const MAX_HEIGHT = 480;

const ORIGINS = {
  deposit: "Deposit",
  payment: "Payment",
  change: "Change",
  withdrawal: "Withdrawal",
} as const satisfies Record<NoteRow["origin"], string>;

interface Properties {
  readonly summary: PoolSummary;
  /** @param hash the hash of the transaction */
  onOpen(hash: string): void;
}

/** All notes, newest first. Only rows in view are rendered, and only their notes are requested. */
export function NoteList({ summary, onOpen }: Properties) {
  const scroller = useRef<HTMLDivElement>(null);
  const { notes: count } = summary;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 6,
  });
  const height = Math.min(MAX_HEIGHT, count * ROW_HEIGHT);
  const rows = virtualizer.getVirtualItems();
  const [first, last] = [rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0];
  const noteOf = useNotes(summary, count - 1 - last, count - 1 - first);
  return (
    <section className="card card-flush">
      <header>
        <h2>Notes</h2>
        <span className="soft small number">{formatCount(count)}</span>
      </header>
      {count === 0 ? (
        <p className="empty">The pool has no notes yet. The first deposit adds one.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without focus, the keyboard cannot scroll it.
        <div ref={scroller} className="virtual" tabIndex={0} style={{ height }}>
          <ul aria-label="Notes, newest first" style={{ height: virtualizer.getTotalSize() }}>
            {rows.map(({ index, start }) => (
              <li
                key={count - 1 - index}
                className="virtual-row"
                aria-setsize={count}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row leafIndex={count - 1 - index} note={noteOf(count - 1 - index)} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

interface RowProperties {
  readonly leafIndex: number;
  /** Undefined until the worker has answered. */
  readonly note: NoteRow | undefined;
  onOpen(hash: string): void;
}

const Row = memo(({ leafIndex, note, onOpen }: RowProperties) => (
  <button
    type="button"
    className="note-row"
    disabled={note === undefined}
    onClick={() => note !== undefined && onOpen(note.transactionHash)}
  >
    <span className="number soft">{formatCount(leafIndex)}</span>
    <Verbatim as="code" className="note-commitment">
      {note === undefined ? "…" : toBytes32(note.commitment)}
    </Verbatim>
    <span className="note-origin">{note !== undefined && ORIGINS[note.origin]}</span>
    <span className="note-amount">
      {note?.amount !== undefined ? <Amount value={note.amount} /> : <span className="soft">hidden</span>}
    </span>
    <span className="note-when">{note !== undefined && <Time at={note.timestamp * 1000} />}</span>
    <span className="state note-state" data-tone={note?.inTree === false ? "warn" : "good"}>
      {note?.inTree === false ? "queued" : "in the tree"}
    </span>
  </button>
));
