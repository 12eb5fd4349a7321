import { unlessAborted } from "@sotto/chain";

/** Runs actions one at a time, so that selecting a note and journaling the selection are not interleaved. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs the action after all earlier ones.
   * @param signal ends the wait for earlier actions; from then on, the action has to watch it
   */
  run<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const earlier = this.#last;
    const result = earlier.then(() => {
      signal?.throwIfAborted();
      return action();
    });
    this.#last = result.catch(() => undefined);
    return unlessAborted(earlier, signal).then(() => result);
  }
}
