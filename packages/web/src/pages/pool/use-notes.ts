import { useEffect, useRef, useState } from "react";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { NoteRow, PoolSummary } from "../../engine/pool-feed-api.ts";

const CHUNK = 128;
/** Chunks that are kept, so that scrolling back shows them at once. */
const MAX_CHUNKS = 64;

interface Chunk {
  readonly rows: readonly NoteRow[];
  /** Whether no later block changes it, unless by a reorganization. */
  readonly final: boolean;
  readonly revision: number;
}

/**
 * The notes from leaf `from` to `to`, asked for in chunks as they come into view.
 * @returns gives a note, undefined while its chunk is on the way
 */
export function useNotes(
  { revision, history }: PoolSummary,
  from: number,
  to: number,
): (leafIndex: number) => NoteRow | undefined {
  const [, render] = useState(0);
  const chunks = useRef(new Map<number, Chunk>());
  const known = useRef(history);
  if (known.current !== history) {
    known.current = history;
    chunks.current = new Map();
  }
  const [first, last] = [Math.floor(Math.max(0, from) / CHUNK), Math.floor(Math.max(0, to) / CHUNK)];
  useEffect(() => {
    const cache = chunks.current;
    const ask = async (index: number) => {
      const rows = await poolFeed().notes(index * CHUNK, CHUNK);
      if (cache !== chunks.current) return;
      cache.delete(index);
      cache.set(index, { rows, final: rows.length === CHUNK && rows.every(({ inTree }) => inTree), revision });
      for (const key of cache.keys()) {
        if (cache.size <= MAX_CHUNKS) break;
        cache.delete(key);
      }
      render((count) => count + 1);
    };
    // A failure is in the feed's state.
    for (let index = first; index <= last; index += 1) {
      const chunk = cache.get(index);
      if (chunk === undefined || (!chunk.final && chunk.revision !== revision)) void ask(index).catch(() => {});
    }
  }, [first, last, revision]);
  return (leafIndex) => chunks.current.get(Math.floor(leafIndex / CHUNK))?.rows[leafIndex % CHUNK];
}
