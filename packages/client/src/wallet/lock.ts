/** Runs actions one at a time, so that selecting a note and journaling the selection are not interleaved. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
