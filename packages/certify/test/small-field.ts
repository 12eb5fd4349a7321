import { registerHooks } from "node:module";
import { BASE8, EDWARDS_A, EDWARDS_D, A as LARGE_A, ORDER } from "../src/curve.ts";
import type { Normalized } from "../src/normalize.ts";
import { P } from "../src/replay/field.ts";
import { SMALL } from "./random-circuit.ts";
import type { SmallCurve } from "./small-curve.ts";

/** Constants of Baby Jubjub, which is a curve over the large field only. */
const CURVE = "/curve.ts";

function replaced(source: string, values: readonly (readonly [found: string, value: string])[]): string {
  return values.reduce((text, [found, value]) => {
    if (!text.includes(found)) throw new Error(`the source does not contain ${found}`);
    return text.replaceAll(found, value);
  }, source);
}

/** The constants of curve.ts, and those of a small curve. */
const constantsOf = ({ A, order, base: [x, y] }: SmallCurve): [found: string, value: string][] => [
  [`EDWARDS_A = ${EDWARDS_A}n`, `EDWARDS_A = ${A + 2}n`],
  [`EDWARDS_D = ${EDWARDS_D}n`, `EDWARDS_D = ${A - 2}n`],
  [` A = ${LARGE_A}n`, ` A = ${A}n`],
  [`${ORDER}n`, `${order}n`],
  [`x: ${BASE8.x}n`, `x: ${x}n`],
  [`y: ${BASE8.y}n`, `y: ${y}n`],
  // The powers of two below the order.
  ["j <= 252", `j <= ${Math.floor(Math.log2(order))}`],
];

type Terms = Map<number, bigint>;

/** The sides of a constraint as the second checker expands them; the constant is under 0. */
export function expand(system: Normalized, constraint: number): [Terms, Terms, Terms] {
  const sides = system.sides(constraint) ?? [];
  return (sides.length === 1 ? [undefined, undefined, ...sides] : [...sides]).map((form) => {
    const terms = new Map(form?.wires.map((wire, i) => [wire, form.coefficients[i] as bigint]));
    return form === undefined || form.constant === 0n ? terms : terms.set(0, form.constant);
  }) as [Terms, Terms, Terms];
}

/**
 * Loads the modules of this package a second time, with another prime in both files field.ts: the first checker's rules, and the
 * second one's replay of the rules that need no curve. The lemmas need a curve over the small field.
 */
export async function smallFieldRules(curve?: SmallCurve, prime = curve?.p ?? SMALL) {
  const suffix = `?field=${prime}${curve === undefined ? "" : "&curve"}`;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isKept = curve === undefined && found.url.endsWith(CURVE);
      return context.parentURL?.endsWith(suffix) === true && !isKept ? { ...found, url: found.url + suffix } : found;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      const replace = (values: readonly (readonly [string, string])[]) => ({
        ...loaded,
        source: replaced(String(loaded.source), values),
      });
      if (url.endsWith(`/field.ts${suffix}`)) return replace([[`${P}n`, `${prime}n`]]);
      return curve !== undefined && url.endsWith(CURVE + suffix) ? replace(constantsOf(curve)) : loaded;
    },
  });
  const load = <Module>(name: string): Promise<Module> =>
    import(`${new URL(`../src/${name}.ts`, import.meta.url).href}${suffix}`);
  try {
    const { Normalized } = await load<typeof import("../src/normalize.ts")>("normalize");
    const { Facts } = await load<typeof import("../src/facts.ts")>("facts");
    const { Determined } = await load<typeof import("../src/determine.ts")>("determine");
    const { replayComparison } = await load<typeof import("../src/replay/compare.ts")>("replay/compare");
    const { replayDivision } = await load<typeof import("../src/replay/division.ts")>("replay/division");
    const { replayLongDivision } = await load<typeof import("../src/replay/long-division.ts")>("replay/long-division");
    return { Normalized, Facts, Determined, replayComparison, replayDivision, replayLongDivision };
  } finally {
    hooks.deregister();
  }
}
