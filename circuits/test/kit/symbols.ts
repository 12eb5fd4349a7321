import { readFileSync } from "node:fs";

const ANONYMOUS = /^([A-Za-z_]\w*?)(?:__\d+)?_\d+_(\d+)((?:\[\d+\])*)$/;

/**
 * circom names an anonymous component by template, file and place in the file: "Bits_12_845". An edit anywhere above
 * changes that, so a signal's name here has the rank among its siblings instead: "Bits#0". The number of a cheater's own
 * copy of a template ("Bits__3", see cheaters.ts) is left out.
 */
function stableNames(names: readonly string[]): string[] {
  const places = new Map<string, Set<number>>();
  const paths = names.map((name) => name.split("."));
  for (const path of paths)
    for (const [depth, part] of path.entries()) {
      const match = ANONYMOUS.exec(part);
      if (match === null) continue;
      const siblings = `${path.slice(0, depth).join(".")}.${match[1]}`;
      const set = places.get(siblings) ?? new Set();
      places.set(siblings, set.add(Number(match[2])));
    }
  const ranks = new Map(
    [...places].map(([siblings, set]) => [siblings, new Map([...set].sort((a, b) => a - b).map((at, i) => [at, i]))]),
  );
  const done = new Map<string, string>();
  return paths.map((path) => {
    const parent = path.slice(0, -1).join(".");
    let stable = done.get(parent);
    if (stable === undefined) {
      stable = path
        .slice(0, -1)
        .map((part, depth) => {
          const match = ANONYMOUS.exec(part);
          if (match === null) return part;
          const rank = ranks.get(`${path.slice(0, depth).join(".")}.${match[1]}`)?.get(Number(match[2]));
          return `${match[1]}#${rank}${match[3]}`;
        })
        .join(".");
      done.set(parent, stable);
    }
    return `${stable}.${path.at(-1)}`;
  });
}

/** Names of signals ("main.path[0].children[3]") and their labels, from a .sym file. */
export class Symbols {
  readonly #labels: Map<string, number>;

  constructor(path: string) {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const fields = lines.map((line) => line.split(","));
    const names = stableNames(fields.map((field) => field[3] as string));
    this.#labels = new Map(names.map((name, i) => [name, Number(fields[i]?.[0])]));
    if (this.#labels.size !== lines.length) throw new Error(`${path}: two signals of one name`);
  }

  /** The label of a signal; "main." is understood. Throws for a name the circuit does not have. */
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
   * For each label of this circuit the label of the signal of the same name in `other`, below its component `prefix`
   * ("" for main itself). Throws unless both have the same signals.
   */
  labelsIn(other: Symbols, prefix: string): Uint32Array {
    const map = new Uint32Array(this.#labels.size + 1);
    for (const [name, label] of this.#labels) {
      const there = other.#labels.get(name.replace("main.", `main.${prefix}`));
      if (there === undefined) throw new Error(`the other circuit has no signal ${name}`);
      map[label] = there;
    }
    const more = other.#below(`main.${prefix}`) - this.#labels.size;
    if (more !== 0) throw new Error(`the other circuit has ${more} more signals`);
    return map;
  }

  /** How many signals' names begin with `prefix`. */
  #below(prefix: string): number {
    let count = 0;
    for (const name of this.#labels.keys()) if (name.startsWith(prefix)) count++;
    return count;
  }
}
