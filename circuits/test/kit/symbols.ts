import { readFileSync } from "node:fs";

const ANONYMOUS = /^([A-Za-z_]\w*?)(?:__\d+)?_\d+_(\d+)((?:\[\d+\])*)$/;

/**
 * circom names an anonymous component by template, file and position in the file: "Bits_12_845". An edit above the
 * component changes its position, so names here use its rank among its siblings instead: "Bits#0". The number of a
 * cheater's copy of a template ("Bits__3", see cheaters.ts) is removed.
 */
function stableNames(names: readonly string[]): string[] {
  // A component has several signals, so most of the work is done once per component.
  const parents = new Map(names.map((name) => [parentOf(name), ""]));
  const places = new Map<string, Set<number>>();
  for (const parent of parents.keys()) {
    const path = parent.split(".");
    for (const [depth, part] of path.entries()) {
      const match = ANONYMOUS.exec(part);
      if (match === null) continue;
      const siblings = `${path.slice(0, depth).join(".")}.${match[1]}`;
      const set = places.get(siblings) ?? new Set();
      places.set(siblings, set.add(Number(match[2])));
    }
  }
  const ranks = new Map(
    [...places].map(([siblings, set]) => [siblings, new Map([...set].sort((a, b) => a - b).map((at, i) => [at, i]))]),
  );
  for (const parent of parents.keys()) {
    const path = parent.split(".");
    const stable = path.map((part, depth) => {
      const match = ANONYMOUS.exec(part);
      if (match === null) return part;
      const rank = ranks.get(`${path.slice(0, depth).join(".")}.${match[1]}`)?.get(Number(match[2]));
      return `${match[1]}#${rank}${match[3]}`;
    });
    parents.set(parent, stable.join("."));
  }
  return names.map((name) => parents.get(parentOf(name)) + name.slice(name.lastIndexOf(".")));
}

const parentOf = (name: string) => name.slice(0, name.lastIndexOf("."));

/** Names of signals ("main.path[0].children[3]") and their labels, from a .sym file. */
export class Symbols {
  readonly #labels: Map<string, number>;
  /** Number of signals of each component of main, including those of its subcomponents. */
  readonly #sizes = new Map<string, number>();

  constructor(path: string) {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const names = stableNames(lines.map((line) => line.slice(line.lastIndexOf(",") + 1)));
    this.#labels = new Map(names.map((name, i) => [name, Number.parseInt(lines[i] as string, 10)]));
    for (const name of names) {
      const component = name.slice("main.".length, name.indexOf(".", "main.".length));
      this.#sizes.set(component, (this.#sizes.get(component) ?? 0) + 1);
    }
    if (this.#labels.size !== lines.length) throw new Error(`${path}: two signals of one name`);
  }

  /** The label of a signal, named without "main.". Throws if the circuit has no such signal. */
  label(name: string): number {
    const label = this.#labels.get(`main.${name}`);
    if (label === undefined) throw new Error(`the circuit has no signal main.${name}`);
    return label;
  }

  /** The names of signals by label. */
  names(): Map<number, string> {
    return new Map(Array.from(this.#labels, ([name, label]) => [label, name]));
  }

  /**
   * Maps each label of this circuit to the label of the same signal in `component` of `other`. Throws if their signals
   * differ.
   */
  labelsIn(other: Symbols, component: string): Uint32Array {
    const map = new Uint32Array(this.#labels.size + 1);
    for (const [name, label] of this.#labels) map[label] = other.label(name.replace("main", component));
    if (other.#sizes.get(component) !== this.#labels.size) throw new Error("the other circuit has more signals");
    return map;
  }
}
