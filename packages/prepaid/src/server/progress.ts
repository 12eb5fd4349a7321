// How far the store has come. Threads that load nothing else use this too.

/** How far the store has come. */
export interface Progress {
  readonly store: string;
  readonly ticks: number;
}

/** Whether a store is not the known one, or is behind it. */
export function isBehind(known: Progress | undefined, progress: Progress | undefined): boolean {
  if (known === undefined) return false;
  return progress === undefined || progress.store !== known.store || progress.ticks < known.ticks;
}

/** Whether a store has come further than any known progress: right after it ticked, it has, unless it was restored. */
export const isAhead = (known: Progress | undefined, progress: Progress | undefined): progress is Progress =>
  progress !== undefined && !isBehind(known, progress) && progress.ticks !== known?.ticks;
