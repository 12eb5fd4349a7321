// The page's side of a worker that publishes its state.
import { proxy, wrap } from "comlink";
import { useSyncExternalStore } from "react";
import type { Failure } from "../errors.ts";

interface Publisher<State> {
  /** Calls `publish` with the current state, and with each later one. */
  subscribe(publish: (state: State) => void): unknown;
}

/**
 * @param name the name of the worker, for the text of its failure
 * @param create starts the worker: bundlers find a worker only by a literal URL in `new Worker`
 * @param initial the state before the worker publishes one
 * @param withFailure the state after an error that the worker did not catch
 * @returns a function that starts the worker at the first use, and a hook that returns its state. Wrap callbacks in comlink's
 * `proxy`.
 */
export function workerEnd<Remote extends Publisher<State>, State>(
  name: string,
  create: () => Worker,
  initial: State,
  withFailure: (failure: Failure, current: State) => State,
): { start: () => Remote; useState: () => State } {
  let worker: Remote | undefined;
  let current = initial;
  const listeners = new Set<() => void>();
  const publish = (state: State) => {
    current = state;
    for (const listener of listeners) listener();
  };
  const start = (): Remote => {
    if (worker !== undefined) return worker;
    const started = create();
    worker = wrap<Remote>(started) as unknown as Remote;
    started.addEventListener("error", ({ message }) =>
      publish(
        withFailure({ code: "APP_FAILED", message: message || `the ${name}'s worker failed`, details: {} }, current),
      ),
    );
    void worker.subscribe(proxy(publish));
    return worker;
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return { start, useState: () => useSyncExternalStore(subscribe, () => current) };
}
