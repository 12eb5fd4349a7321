import { useEffect, useRef, useState } from "react";
import { poolFeed } from "../../engine/pool-feed.ts";
import type { NoteRow, PoolSummary } from "../../engine/pool-feed-api.ts";

const CHUNK = 128;
/** Maximum number of cached chunks: scrolling back shows them immediately. */
const MAX_CHUNKS = 64;

interface Chunk {
  readonly rows: readonly NoteRow[];
  /** Whether only a reorganization can still change it. */
  readonly final: boolean;
  readonly revision: number;
}

/**
 * The notes from leaf `from` to `to`, requested in chunks as they come into view.
 * @returns a function that returns a note; undefined while its chunk is loading
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
    // The feed's state reports the failure.
    for (let index = first; index <= last; index += 1) {
      const chunk = cache.get(index);
      if (chunk === undefined || (!chunk.final && chunk.revision !== revision)) void ask(index).catch(() => {});
    }
  }, [first, last, revision]);
  return (leafIndex) => chunks.current.get(Math.floor(leafIndex / CHUNK))?.rows[leafIndex % CHUNK];
}
