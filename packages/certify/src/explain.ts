import type { Blocked } from "./determine.ts";
import type { Miss } from "./facts.ts";
import type { Form } from "./form.ts";
import type { Place, Places } from "./locate.ts";
import { Places as Names } from "./locate.ts";
import { constraintWires, type Proof } from "./theorem.ts";

/** A reason why a circuit is not certified, for the person who changed it. */
export interface Finding {
  /** The signal, "main.ElGamal.EdwardsX.x". */
  readonly signal: string;
  /** The statement that assigns it, if the sources show it. */
  readonly place: Place | undefined;
  readonly why: string;
  readonly fix: string;
}

/** At most so many free signals are explained one by one. */
const MAX_FINDINGS = 5;
const MAX_TERMS = 4;

/** Names of the wires of a circuit compiled with --O0: labels and names from its .sym file. */
export function readNames(sym: string): Map<number, string> {
  const names = new Map<number, string>();
  for (const line of sym.split("\n")) {
    const [label, , , name] = line.split(",");
    if (label !== undefined && name !== undefined) names.set(Number(label), name);
  }
  return names;
}

const placeOf = ({ template, file, line, text }: Place): Place => ({ template, file, line, text });

/** Lines for a terminal. */
export const findingLines = ({ signal, place, why, fix }: Finding): string[] => [
  `  ${signal}${place === undefined ? "" : ` @ ${place.file}:${place.line} (${place.template})`}`,
  `    why: ${why}`,
  `    fix: ${fix}`,
];

export class Explanation {
  readonly #proof: Proof;
  readonly #names: ReadonlyMap<number, string>;
  readonly #places: Places;

  constructor(proof: Proof, names: ReadonlyMap<number, string>, places: Places) {
    this.#proof = proof;
    this.#names = names;
    this.#places = places;
  }

  /** circom's name of a wire of the plain circuit. */
  #raw(wire: number): string {
    return this.#names.get(this.#proof.plain.labels[wire] as number) ?? `wire ${wire}`;
  }

  name(wire: number): string {
    return Names.readable(this.#raw(wire));
  }

  #form({ constant, wires }: Form): string {
    const shown = wires.slice(0, MAX_TERMS).map((wire) => this.name(wire));
    const more = wires.length > MAX_TERMS ? [`${wires.length - MAX_TERMS} more`] : [];
    return `the sum over ${[...shown, ...more, ...(constant === 0n ? [] : ["a constant"])].join(", ")}`;
  }

  /** The statement of a constraint of the plain circuit. */
  statement(constraint: number): Place | undefined {
    const { plain } = this.#proof;
    const quadratic = (plain.start[3 * constraint] as number) < (plain.start[3 * constraint + 1] as number);
    return this.#places.statement(
      constraintWires(plain, constraint).map((wire) => this.#raw(wire)),
      quadratic,
    );
  }

  #blockedBy(wire: number): Blocked | undefined {
    const root = this.#proof.normalized.root(wire);
    return this.#proof.determined.blocked.find((blocked) => blocked.wire === root);
  }

  /** Reasons for the free wires: hints (`<--`) that read only determined signals first. */
  findings(): Finding[] {
    const { free, normalized, determined } = this.#proof;
    const byComponent = new Set(free.map((wire) => this.#base(this.#raw(wire))));
    const seen = new Set<string>();
    const candidates = free.map((wire) => {
      const raw = this.#raw(wire);
      const assigned = this.#places.assignment(raw);
      const component = raw.slice(0, raw.lastIndexOf("."));
      const readsFree = assigned?.reads.some((read) => byComponent.has(`${component}.${read}`)) ?? true;
      const blocked = this.#blockedBy(wire);
      const rank = (readsFree ? 4 : 0) + (assigned?.hint ? 0 : 2) + (blocked === undefined ? 1 : 0);
      return { wire, raw, assigned, blocked, rank };
    });
    candidates.sort((a, b) => a.rank - b.rank || a.wire - b.wire);
    const findings: Finding[] = [];
    for (const { wire, raw, assigned, blocked } of candidates) {
      const key = assigned === undefined ? this.#base(raw) : `${assigned.file}:${assigned.line}`;
      if (seen.has(key) || findings.length === MAX_FINDINGS) continue;
      seen.add(key);
      findings.push({
        signal: Names.readable(raw),
        place: assigned && placeOf(assigned),
        ...this.#reason(wire, blocked, assigned?.hint ?? false, normalized.uses(normalized.root(wire)), determined),
      });
    }
    return findings;
  }

  #base(raw: string): string {
    return raw.replace(/\[[^\]]*\]$/, "").replace(/(\[[^\]]*\])+$/, "");
  }

  #reason(
    wire: number,
    blocked: Blocked | undefined,
    hint: boolean,
    uses: readonly number[],
    determined: Proof["determined"],
  ): { why: string; fix: string } {
    if (blocked !== undefined) {
      const missed = this.#misses(blocked.factor);
      const premise = missed[0];
      return {
        why: `${this.#at(blocked.constraint)} determines it only if its factor is not 0 (${this.#form(blocked.factor)}), and that is not shown${
          premise === undefined ? "" : `: lemma ${premise.lemma} lacks ${premise.missing}`
        }`,
        fix: "constrain the factor's signals so that a lemma applies (range, curve equation, sign), or constrain the signal itself",
      };
    }
    if (uses.length === 0) {
      // Constraints between it and one other signal are gone from the normalized system.
      const why = this.#proof.plain.terms.includes(wire)
        ? "its constraints only compare it with a signal that is free"
        : "no constraint contains it";
      return { why, fix: hint ? "use <== instead of <--, or add a ===" : "constrain it" };
    }
    const open = uses.filter((use) =>
      constraintWires(this.#proof.plain, use).some((other) => other !== wire && !determined.isDetermined(other)),
    );
    return {
      why:
        open.length === uses.length
          ? `every one of its ${uses.length} constraints contains another signal that is free`
          : "no rule derives it from its constraints",
      fix: hint ? "its hint (<--) has no === that fixes the value: add it" : "add the constraint that computes it",
    };
  }

  #at(constraint: number): string {
    const place = this.statement(constraint);
    return place === undefined ? `constraint ${constraint}` : `"${place.text}" (${place.file}:${place.line})`;
  }

  /** Premises that lemmas missed at the wires of a form. */
  #misses(form: Form): Miss[] {
    const wires = new Set(form.wires);
    return this.#proof.facts.misses.filter(({ at }) => at.some((other) => other.wires.some((wire) => wires.has(wire))));
  }

  /** Statements of the asserting constraints, with how often each occurs. `nameOf` names a place. */
  assertions(nameOf: (place: Place) => string): Record<string, number> {
    return this.#count(this.#proof.asserting, nameOf);
  }

  /** Constraints of the source that the shipped file lacks. */
  bridgeFailures(nameOf: (place: Place) => string): Record<string, number> {
    return this.#count(this.#proof.bridge.failures, nameOf);
  }

  #count(constraints: readonly number[], nameOf: (place: Place) => string): Record<string, number> {
    const counts = new Map<string, number>();
    for (const constraint of constraints) {
      const place = this.statement(constraint);
      const name = place === undefined ? "?" : nameOf(place);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }
}
