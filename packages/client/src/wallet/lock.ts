/** Runs one action after the other: choosing a note and writing down that it is taken must not be interleaved. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
