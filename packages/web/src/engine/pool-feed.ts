// The page's end of the pool's feed.
import { proxy, wrap } from "comlink";
import { useEffect, useSyncExternalStore } from "react";
import type { HostConfig } from "../config.ts";
import { type FeedState, type PoolFeed, STARTING } from "./pool-feed-api.ts";

let worker: PoolFeed | undefined;
let current = STARTING;
const listeners = new Set<() => void>();

function publish(state: FeedState): void {
  current = state;
  for (const listener of listeners) listener();
}

function start(): PoolFeed {
  const started = new Worker(new URL("./pool-feed.worker.ts", import.meta.url), { type: "module", name: "pool feed" });
  const remote = wrap<PoolFeed>(started) as unknown as PoolFeed;
  started.addEventListener("error", ({ message }) => {
    const problem = { code: "APP_FAILED", message: message || "the pool feed's worker failed", details: {} };
    publish({ ...current, problem });
  });
  void remote.subscribe(proxy(publish));
  return remote;
}

/** Starts the worker at the first use. */
export const poolFeed = (): PoolFeed => {
  worker ??= start();
  return worker;
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Follows the pool, and returns the feed's state; the component renders again when it changes. */
export function usePoolFeed(config: HostConfig): FeedState {
  useEffect(() => void poolFeed().start(config), [config]);
  return useSyncExternalStore(subscribe, () => current);
}
