import { readFileSync } from "node:fs";

const ANONYMOUS = /^([A-Za-z_]\w*?)(?:__\d+)?_\d+_(\d+)((?:\[\d+\])*)$/;

/**
 * circom names an anonymous component by template, file and position in the file: "Bits_12_845". An edit above the
 * component changes its position, so names here use its rank among its siblings instead: "Bits#0". The number of a
 * cheater's copy of a template ("Bits__3", see cheaters.ts) is removed.
 * @param paths of all components
 * @returns the stable path of each
 */
function stablePaths(paths: Iterable<string>): Map<string, string> {
  const places = new Map<string, Set<number>>();
  const split = new Map(Array.from(paths, (path) => [path, path.split(".")]));
  for (const parts of split.values()) {
    for (const [depth, part] of parts.entries()) {
      const match = ANONYMOUS.exec(part);
      if (match === null) continue;
      const siblings = `${parts.slice(0, depth).join(".")}.${match[1]}`;
      const set = places.get(siblings) ?? new Set();
      places.set(siblings, set.add(Number(match[2])));
    }
  }
  const ranks = new Map(
    [...places].map(([siblings, set]) => [siblings, new Map([...set].sort((a, b) => a - b).map((at, i) => [at, i]))]),
  );
  const stable = (parts: readonly string[]) =>
    parts.map((part, depth) => {
      const match = ANONYMOUS.exec(part);
      if (match === null) return part;
      const rank = ranks.get(`${parts.slice(0, depth).join(".")}.${match[1]}`)?.get(Number(match[2]));
      return `${match[1]}#${rank}${match[3]}`;
    });
  return new Map([...split].map(([path, parts]) => [path, stable(parts).join(".")]));
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
