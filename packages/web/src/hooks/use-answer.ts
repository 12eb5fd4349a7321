import { useEffect, useState } from "react";
import { type Failure, failureOf } from "../errors.ts";

export interface Answer<T> {
  /** The last answer; an older one stays until the next arrives. */
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

/**
 * Asks a worker, and asks again whenever `question` changes. Answers that were overtaken are dropped.
 * @param ask must depend on nothing but `question`
 */
export function useAnswer<T>(question: string | undefined, ask: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ value: undefined, failure: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` names everything that `ask` uses.
  useEffect(() => {
    if (question === undefined) return undefined;
    let current = true;
    ask().then(
      (value) => current && setAnswer({ value, failure: undefined }),
      (error: unknown) => current && setAnswer(({ value }) => ({ value, failure: failureOf(error) })),
    );
    return () => {
      current = false;
    };
  }, [question]);
  return answer;
}
