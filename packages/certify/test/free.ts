/** The wires of `claimed` that have two values although the wires of `given` have the same. */
export function free(all: readonly Uint8Array[], given: readonly number[], claimed: readonly number[]): number[] {
  const first = new Map<string, Uint8Array>();
  const wrong = new Set<number>();
  for (const values of all) {
    const key = given.map((wire) => values[wire]).join();
    const other = first.get(key);
    if (other === undefined) first.set(key, values);
    else for (const wire of claimed) if (values[wire] !== other[wire]) wrong.add(wire);
  }
  return [...wrong];
}
