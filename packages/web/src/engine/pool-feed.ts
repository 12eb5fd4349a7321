// The page's end of the pool's feed.
import { useEffect } from "react";
import type { HostConfig } from "../config.ts";
import { type FeedState, type PoolFeed, STARTING } from "./pool-feed-api.ts";
import { workerEnd } from "./worker-end.ts";

const feed = workerEnd<PoolFeed, FeedState>(
  "pool feed",
  () => new Worker(new URL("./pool-feed.worker.ts", import.meta.url), { type: "module", name: "pool feed" }),
  STARTING,
  (problem, current) => ({ ...current, problem }),
);

/** Starts the worker at the first use. */
export const poolFeed = feed.start;

/** Follows the pool, and returns the feed's state; the component renders again when it changes. */
export function usePoolFeed(config: HostConfig): FeedState {
  useEffect(() => void feed.start().start(config), [config]);
  return feed.useState();
}
