// The page's end of the observer's worker.
import { wrap } from "comlink";
import type { HostConfig } from "../config.ts";
import type { Observer } from "./observer-api.ts";

let worker: Observer | undefined;
let started: HostConfig | undefined;

/** Starts the worker at the first use. */
export function observer(config: HostConfig): Observer {
  worker ??= wrap<Observer>(
    new Worker(new URL("./observer.worker.ts", import.meta.url), { type: "module", name: "observer" }),
  ) as unknown as Observer;
  if (started !== config) {
    started = config;
    void worker.start(config);
  }
  return worker;
}
