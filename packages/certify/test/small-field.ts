import { registerHooks } from "node:module";
import { P } from "../src/replay/field.ts";
import { SMALL } from "./random-circuit.ts";

const SUFFIX = `?field=${SMALL}`;
/** Constants of Baby Jubjub, which is a curve over the large field only. */
const LARGE_ONLY = "/curve.ts";

/**
 * The first checker's rules over the field of 5. The modules are those of packages/certify, loaded a second time with
 * another prime in field.ts.
 */
export async function smallFieldRules() {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const inherits = context.parentURL?.endsWith(SUFFIX) === true && !found.url.endsWith(LARGE_ONLY);
      return inherits ? { ...found, url: found.url + SUFFIX } : found;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/field.ts${SUFFIX}`)) return loaded;
      const source = String(loaded.source);
      if (!source.includes(`${P}n`)) throw new Error("field.ts does not contain the prime");
      return { ...loaded, source: source.replace(`${P}n`, `${SMALL}n`) };
    },
  });
  const load = <Module>(name: string): Promise<Module> =>
    import(`${new URL(`../src/${name}.ts`, import.meta.url).href}${SUFFIX}`);
  try {
    const { Normalized } = await load<typeof import("../src/normalize.ts")>("normalize");
    const { Facts } = await load<typeof import("../src/facts.ts")>("facts");
    const { Determined } = await load<typeof import("../src/determine.ts")>("determine");
    return { Normalized, Facts, Determined };
  } finally {
    hooks.deregister();
  }
}
