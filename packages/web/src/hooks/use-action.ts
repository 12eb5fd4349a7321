import { useCallback, useRef, useState } from "react";
import { type Failure, failureOf } from "../errors.ts";

/** An asynchronous action of a button: whether it runs, and how it failed. */
export interface Action {
  readonly busy: boolean;
  readonly failure: Failure | undefined;
  /** Runs `action`, unless it is already running. Never rejects. */
  run(action: () => Promise<unknown>): void;
  reset(): void;
}

export function useAction(): Action {
  const [state, setState] = useState<{ busy: boolean; failure: Failure | undefined }>({
    busy: false,
    failure: undefined,
  });
  const running = useRef(false);
  const run = useCallback((action: () => Promise<unknown>) => {
    if (running.current) return;
    running.current = true;
    setState({ busy: true, failure: undefined });
    action()
      .then(
        () => setState({ busy: false, failure: undefined }),
        (error: unknown) => setState({ busy: false, failure: failureOf(error) }),
      )
      .finally(() => {
        running.current = false;
      });
  }, []);
  const reset = useCallback(() => setState({ busy: false, failure: undefined }), []);
  return { ...state, run, reset };
}
