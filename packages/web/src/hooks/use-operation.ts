import { proxy } from "comlink";
import { useCallback, useEffect, useRef, useState } from "react";
import type { OnProgress, Progress } from "../engine/api.ts";
import { engine } from "../engine/page.ts";
import { type Failure, failureOf } from "../errors.ts";

export interface Stage extends Progress {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A long action of the engine, with its stages. */
export interface Operation<T> {
  readonly stages: readonly Stage[];
  readonly running: boolean;
  readonly result: T | undefined;
  readonly failure: Failure | undefined;
  /** @param action calls the engine with this name and this callback */
  run(action: (name: string, onProgress: OnProgress) => Promise<T>): void;
  cancel(): void;
}

export function useOperation<T>(): Operation<T> {
  const [stages, setStages] = useState<readonly Stage[]>([]);
  const [end, setEnd] = useState<{ running: boolean; result?: T; failure?: Failure }>({ running: false });
  const name = useRef("");
  const run = useCallback((action: (name: string, onProgress: OnProgress) => Promise<T>) => {
    const own = crypto.randomUUID();
    name.current = own;
    setStages([]);
    setEnd({ running: true });
    const onProgress: OnProgress = (progress) => {
      if (name.current === own) setStages((known) => [...known, { ...progress, at: Date.now() }]);
    };
    action(own, proxy(onProgress)).then(
      (result) => name.current === own && setEnd({ running: false, result }),
      (error: unknown) => name.current === own && setEnd({ running: false, failure: failureOf(error) }),
    );
  }, []);
  const cancel = useCallback(() => void engine().cancel(name.current), []);
  return { stages, running: end.running, result: end.result, failure: end.failure, run, cancel };
}

/** An operation that begins when the component is first rendered. */
export function useOperationOnce<T>(action: (name: string, onProgress: OnProgress) => Promise<T>): Operation<T> {
  const operation = useOperation<T>();
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    operation.run(action);
  });
  return operation;
}
