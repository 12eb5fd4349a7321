// The page's end of the engine.
import type { Engine, EngineState } from "./api.ts";
import { workerEnd } from "./worker-end.ts";

/** `engine()` starts the worker at the first use; `useEngine()` returns its state. */
export const { start: engine, useState: useEngine } = workerEnd<Engine, EngineState>(
  "engine",
  () => new Worker(new URL("./engine.worker.ts", import.meta.url), { type: "module", name: "engine" }),
  { phase: "starting" },
  (failure) => ({ phase: "failed", failure }),
);
