import { edit, type Sources } from "@sotto/keys/source/sources";
import { readTags, removeGroup, type Tag } from "@sotto/keys/source/tags";
import { type Attack, type Read, shrunk } from "./attack.ts";
import { type Build, compile } from "./compile.ts";
import { changedNames, programOf, reachable, rename } from "./program.ts";
import type { Inputs, InputValue } from "./witness.ts";

/** Witness of the cheater in component `name`, by signal name. Compiled without simplification. */
export class Values {
  readonly build: Build;
  readonly #witness: readonly bigint[];
  readonly #component: string;

  constructor(build: Build, witness: readonly bigint[], component: string) {
    this.build = build;
    this.#witness = witness;
    this.#component = component;
  }

  readonly read: Read = (name) => this.#witness[this.build.symbols.label(`${this.#component}.${name}`)] as bigint;

  /**
   * Maps each label of the attacked circuit to the cheater's label. Throws if the two circuits have different signals.
   */
  labels(target: Build): Uint32Array {
    return target.symbols.labelsIn(this.build.symbols, this.#component);
  }

  /** The same values in the wire order of the attacked circuit, at any level of simplification. */
  in(target: Build, labels = this.labels(target)): bigint[] {
    return Array.from(target.r1cs.wireLabels, (label) => this.#witness[labels[label] as number] as bigint);
  }
}

const shape = (value: InputValue): string =>
  typeof value === "object" ? `[${value.length}]${shape(value[0] as InputValue)}` : "";

/**
 * The circuits of cheating provers: for each attack, the group is removed and the generator is edited. The cheaters of
 * one circuit are compiled together, each as a component of one main with its own inputs. A definition that an attack
 * changes is copied for each attack as NAME__0, NAME__1, .., with everything that uses it. All other definitions are
 * shared, so twenty attacks on a payment compile as fast as two.
 */
export class Cheaters {
  readonly sources: Sources;
  readonly attacks: readonly Attack[];
  readonly #tags: ReadonlyMap<string, Tag>;
  readonly #together = new Map<string, Promise<Map<Attack, Values>>>();

  constructor(sources: Sources, attacks: readonly Attack[]) {
    this.sources = sources;
    this.attacks = attacks;
    this.#tags = new Map(readTags(sources).map((tag) => [tag.id, tag]));
  }

  /** The witness that a cheater computes. */
  async values(attack: Attack): Promise<Values> {
    const { main } = attack;
    const together = this.#together.get(main) ?? this.#cheat(this.attacks.filter((other) => other.main === main));
    this.#together.set(main, together);
    // A broken attack must fail only its own test.
    const all = await together.catch(() => this.#cheat([attack]));
    return all.get(attack) as Values;
  }

  async #cheat(attacks: readonly Attack[]): Promise<Map<Attack, Values>> {
    const names = attacks.map((_, index) => `cheater${index}`);
    const shared = new Map<string, string>();
    const own: string[] = [];
    const body: string[] = [];
    const given: Inputs = {};
    for (const [index, attack] of attacks.entries()) {
      const program = programOf(this.#hostile(attack), attack.main);
      const changed = changedNames(program, programOf(this.sources, attack.main));
      const renamed = (text: string) => rename(text, (name) => (changed.has(name) ? `${name}__${index}` : name));
      for (const [name, text] of reachable(program))
        if (changed.has(name)) own.push(renamed(text).replace(/\bcut(\d+)\b/g, `cut${index + 1}000$1`));
        else shared.set(name, text);
      body.push(`component ${names[index]} = ${renamed(program.main)};`);
      for (const [input, value] of Object.entries(await attack.inputs())) {
        given[`${names[index]}_${input}`] = value;
        body.push(`signal input ${names[index]}_${input}${shape(value)};`);
        body.push(`${names[index]}.${input} <== ${names[index]}_${input};`);
      }
    }
    const main = `template Cheaters() {\n${body.join("\n")}\n}\ncomponent main = Cheaters();\n`;
    const text = ["pragma circom 2.2.0;", ...shared.values(), ...own, main].join("\n");
    const build = await compile(new Map(), text, "plain");
    const witness = await build.witness(given);
    return new Map(attacks.map((attack, index) => [attack, new Values(build, witness, names[index] as string)]));
  }

  #hostile(attack: Attack): Sources {
    const tag = this.#tags.get(attack.tag);
    if (tag === undefined) throw new Error(`no constraint group ${attack.tag} in circuits/`);
    const edits = (attack.edits ?? []).map((change) => ({ file: tag.file, ...change }));
    return edit(removeGroup(shrunk(this.sources, attack), tag), edits);
  }
}
