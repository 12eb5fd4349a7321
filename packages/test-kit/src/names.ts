/** Names random values by the order in which they occur first, so that two logs with the same structure are equal. */
export class Names {
  readonly #names = new Map<string, string>();

  /** @param length its length, which becomes a part of the name */
  of(value: string, length = value.length): string {
    const name = this.#names.get(value) ?? `random ${this.#names.size + 1} of ${length}`;
    this.#names.set(value, name);
    return name;
  }
}
