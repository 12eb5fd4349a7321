/** What has to be ended again, last one first. */
export class Cleanup {
  readonly #actions: (() => Promise<void>)[] = [];
  add(action: () => Promise<void>): void {
    this.#actions.push(action);
  }
  async run(): Promise<void> {
    for (let action = this.#actions.pop(); action; action = this.#actions.pop()) await action();
  }
}
