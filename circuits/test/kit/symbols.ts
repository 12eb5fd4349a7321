import { readFileSync } from "node:fs";

const ANONYMOUS = /^([A-Za-z_]\w*?)(?:__\d+)?_\d+_(\d+)((?:\[\d+\])*)$/;

/**
 * circom names an anonymous component by template, file and position in the file: "Bits_12_845". An edit above the
 * component changes its position, so names here use its rank among its siblings instead: "Bits#0". The number of a
 * cheater's copy of a template ("Bits__3", see cheaters.ts) is removed.
 * @param paths the paths of all components
 * @returns the stable path of each
 */
function stablePaths(paths: Iterable<string>): Map<string, string> {
  const all = [...paths];
  // Every path and every path above it, once.
  const parts = new Map<string, Part>();
  const places = new Map<string, Set<number>>();
  for (const path of all)
    for (let above: string | undefined = path; above !== undefined && !parts.has(above); ) {
      const part = splitPath(above);
      parts.set(above, part);
      if (part.place !== undefined) {
        const set = places.get(part.siblings) ?? new Set();
        places.set(part.siblings, set.add(part.place));
      }
      above = part.parent;
    }
  const ranks = new Map(
    [...places].map(([siblings, set]) => [siblings, new Map([...set].sort((a, b) => a - b).map((at, i) => [at, i]))]),
  );
  const known = new Map<string, string>();
  const stable = (path: string): string => {
    const done = known.get(path);
    if (done !== undefined) return done;
    const { parent, name, siblings, place, indices } = parts.get(path) as Part;
    const own = place === undefined ? name : `${name}#${ranks.get(siblings)?.get(place)}${indices}`;
    const result = parent === undefined ? own : `${stable(parent)}.${own}`;
    known.set(path, result);
    return result;
  };
  return new Map(all.map((path) => [path, stable(path)]));
}

/** The last component of a path. */
interface Part {
  readonly parent: string | undefined;
  /** Of an anonymous component, the name of its template. */
  readonly name: string;
  /** The anonymous components of one template below one parent. */
  readonly siblings: string;
  /** Of an anonymous component, its position in the file. */
  readonly place: number | undefined;
  /** Of an anonymous component in a loop, "[0]". */
  readonly indices: string;
}

function splitPath(path: string): Part {
  const dot = path.lastIndexOf(".");
  const parent = dot < 0 ? undefined : path.slice(0, dot);
  const last = path.slice(dot + 1);
  const match = ANONYMOUS.exec(last);
  const name = match?.[1] ?? last;
  const place = match === null ? undefined : Number(match[2]);
  return { parent, name, siblings: `${parent ?? ""}.${name}`, place, indices: match?.[3] ?? "" };
}

/** The labels of a component's own signals, by their names in the component. */
type Signals = Map<string, number>;

/** Reads the lines "label,wire,component,name" of a .sym file. Most lines follow one of the same component. */
function readSignals(path: string): Map<string, Signals> {
  const text = readFileSync(path, "utf8").trimEnd();
  const components = new Map<string, Signals>();
  let [current, signals] = ["", new Map() as Signals];
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const comma = text.lastIndexOf(",", end);
    const dot = text.lastIndexOf(".", end);
    const component = text.slice(comma + 1, dot);
    if (component !== current) {
      current = component;
      signals = components.get(component) ?? new Map();
      components.set(component, signals);
    }
    const name = text.slice(dot + 1, end);
    if (signals.has(name)) throw new Error(`${path}: two signals ${component}.${name}`);
    signals.set(name, Number.parseInt(text.slice(start, comma), 10));
    start = end + 1;
  }
  return components;
}

/** Names of signals ("main.path[0].children[3]") and their labels, from a .sym file. */
export class Symbols {
  /** The signals of each component, by its stable path ("main.path[0]"). */
  readonly #components = new Map<string, Signals>();

  constructor(path: string) {
    const read = readSignals(path);
    for (const [component, stable] of stablePaths(read.keys())) {
      if (this.#components.has(stable)) throw new Error(`${path}: two components ${stable}`);
      this.#components.set(stable, read.get(component) as Signals);
    }
  }

  /** The label of a signal, named without "main.". Throws if the circuit has no such signal. */
  label(name: string): number {
    const [component, signal] = splitName(`main.${name}`);
    const label = this.#components.get(component)?.get(signal);
    if (label === undefined) throw new Error(`the circuit has no signal main.${name}`);
    return label;
  }

  /** The names of signals by label. */
  names(): Map<number, string> {
    const names = new Map<number, string>();
    for (const [component, signals] of this.#components)
      for (const [signal, label] of signals) names.set(label, `${component}.${signal}`);
    return names;
  }

  /**
   * Maps each label of this circuit to the label of the same signal in `component` of `other`. Throws if their signals
   * differ.
   */
  labelsIn(other: Symbols, component: string): Uint32Array {
    const map = new Uint32Array(this.#count("main") + 1);
    for (const [path, signals] of this.#components) {
      const theirs = other.#components.get(`main.${component}${path.slice("main".length)}`);
      for (const [signal, label] of signals) {
        const there = theirs?.get(signal);
        if (there === undefined) throw new Error(`the other circuit has no signal ${path}.${signal}`);
        map[label] = there;
      }
    }
    if (other.#count(`main.${component}`) !== this.#count("main"))
      throw new Error("the other circuit has more signals");
    return map;
  }

  /** Number of signals of a component, including those of its subcomponents. */
  #count(component: string): number {
    let count = 0;
    for (const [path, signals] of this.#components)
      if (path === component || path.startsWith(`${component}.`)) count += signals.size;
    return count;
  }
}

function splitName(name: string): [component: string, signal: string] {
  const dot = name.lastIndexOf(".");
  return [name.slice(0, dot), name.slice(dot + 1)];
}
