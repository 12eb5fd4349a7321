// The page's end of the engine.
import { proxy, wrap } from "comlink";
import { useSyncExternalStore } from "react";
import type { Engine, EngineState } from "./api.ts";

let worker: Engine | undefined;
let current: EngineState = { phase: "starting" };
const listeners = new Set<() => void>();

function start(): Engine {
  const started = new Worker(new URL("./engine.worker.ts", import.meta.url), { type: "module", name: "engine" });
  const remote = wrap<Engine>(started) as unknown as Engine;
  started.addEventListener("error", ({ message }) => {
    const failure = { code: "APP_FAILED", message: message || "the engine's worker failed", details: {} };
    publish({ phase: "failed", failure });
  });
  void remote.subscribe(proxy(publish));
  return remote;
}

function publish(state: EngineState): void {
  current = state;
  for (const listener of listeners) listener();
}

/** Starts the worker at the first use. Wrap callbacks in comlink's `proxy`. */
export const engine = (): Engine => {
  worker ??= start();
  return worker;
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The engine's state; the component renders again when it changes. */
export const useEngine = (): EngineState => useSyncExternalStore(subscribe, () => current);
