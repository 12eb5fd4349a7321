// A run of `pnpm bench certify`: certifies circomlib's templates, and the circuits of known bugs with and without the bug. Each line
// is a name and a value. It names each circuit whose verdict is wrong on stderr.
import { certify } from "@sotto/certify";
import { BUGS } from "@sotto/test-kit/buggy-circuits";
import { CIRCOMLIB_TEMPLATES, type Template } from "@sotto/test-kit/circomlib-templates";
import { compileSource } from "./certify-source.ts";

/** Steps of a search for two witnesses, so that the counts do not depend on the machine. */
const SEARCH = { steps: 300_000, milliseconds: 600_000 };

const forms = Object.entries(BUGS).flatMap(([name, circuit]) =>
  [true, false].map((isDetermined): [string, Template] => [
    `${name} ${isDetermined ? "without" : "with"} the bug`,
    { source: circuit(isDetermined), theorem: "outputs", isDetermined },
  ]),
);
const counts = { certified: 0, refuted: 0, unknown: 0, wrong: 0 };
for (const [name, { source, theorem, isDetermined }] of [...Object.entries(CIRCOMLIB_TEMPLATES), ...forms]) {
  const { verdict } = certify(await compileSource(source), { theorem, search: () => SEARCH });
  counts[verdict]++;
  if (verdict === "unknown" || isDetermined === undefined || isDetermined === (verdict === "certified")) continue;
  counts.wrong++;
  console.error(`${name}: ${verdict}`);
}
for (const [name, count] of Object.entries(counts)) console.log(name, count);
