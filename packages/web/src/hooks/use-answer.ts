import { useEffect, useState } from "react";
import { type Failure, failureOf } from "../errors.ts";

/** Pause before a failed request to the worker is retried, ms. */
const RETRY_MS = 3_000;

export interface Answer<T> {
  /** The last answer; an older one stays until the next arrives. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Sends a request to a worker, and sends it again whenever `question` changes, or after a failure. Responses to earlier
 * requests are dropped.
 * @param ask must depend on nothing but `question`
 */
export function useAnswer<T>(question: string | undefined, ask: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: undefined, failure: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` names everything that `ask` uses.
  useEffect(() => {
    if (question === undefined) return undefined;
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () =>
      ask().then(
        (value) => current && setAnswer({ value, failure: undefined }),
        (error: unknown) => {
          if (!current) return;
          setAnswer(({ value }) => ({ value, failure: failureOf(error) }));
          timer = setTimeout(read, RETRY_MS);
        },
      );
    void read();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [question]);
  return answer;
}
