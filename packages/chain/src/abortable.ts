import { unlessAborted } from "./delay.ts";

/**
 * A chain whose requests throw the reason of `signal` as soon as it is aborted, however slow its nodes are. A request
 * that was sent ends in the background, and its result is dropped.
 */
export function abortable<Source extends object>(chain: Source, signal: AbortSignal | undefined): Source {
  if (signal === undefined) return chain;
  return new Proxy(chain, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...values: unknown[]): unknown => {
        // Nothing is sent after the abort, in particular no transaction.
        if (signal.aborted) return Promise.reject(signal.reason);
        const result: unknown = Reflect.apply(member, target, values);
        return result instanceof Promise ? unlessAborted(result, signal) : result;
      };
    },
  });
}
