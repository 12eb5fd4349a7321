/** Sets of wires that are joined. A wire that was never joined is a set of its own. */
export class DisjointSets {
  readonly #parent = new Map<number, number>();

  /** The wire that names the set of a wire. */
  find(wire: number): number {
    let root = wire;
    for (let up = this.#parent.get(root); up !== undefined; up = this.#parent.get(root)) root = up;
    if (root !== wire) this.#parent.set(wire, root);
    return root;
  }

  join(one: number, other: number): void {
    const [child, root] = [this.find(one), this.find(other)];
    if (child !== root) this.#parent.set(child, root);
  }
}
