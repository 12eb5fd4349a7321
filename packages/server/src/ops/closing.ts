/** Runs cleanup actions in reverse order of registration. If one fails, the others still run. */
export class Closing {
  readonly #actions: (() => Promise<unknown> | unknown)[] = [];
  readonly #onError: (error: unknown) => void;
  #done: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Whether `run` was called. */
  get begun(): boolean {
    return this.#done !== undefined;
  }

  /** Adds an action; the last one added runs first. */
  add(action: () => Promise<unknown> | unknown): void {
    this.#actions.push(action);
  }

  /** Runs all actions, once. An action that fails does not stop the others. */
  run(): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) {
      try {
        await action();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
