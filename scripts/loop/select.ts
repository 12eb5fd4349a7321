import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { circuitNames, circuitsFolder } from "@sotto/keys/circuits/paths";
import { filesOf } from "@sotto/keys/source/changed";
import { readSources, type Sources } from "@sotto/keys/source/sources";

/** Always run: tests of all circuits or of the source texts, which take seconds. */
const ALWAYS = ["test/mains/interface.test.ts", "test/soundness/coverage.test.ts", "test/soundness/soundness.test.ts"];

/** The circuit files that a test's text names: a file of lib/, or one of the mains in quotes. */
function subjects(text: string, sources: Sources): string[] {
  const gadgets = [...text.matchAll(/lib\/\w+\.circom/g)].map(([path]) => path);
  const mains = circuitNames.filter((name) => text.includes(`"${name}"`)).map((name) => `${name}.circom`);
  return [...gadgets, ...mains].filter((path) => sources.has(path));
}

/** The test files (paths below circuits/) of every circuit that depends on a changed file. */
export function testsOf(changed: readonly string[], sources: Sources = readSources()): string[] {
  const concerned = ["gadgets", "mains"].flatMap((folder) =>
    readdirSync(join(circuitsFolder, "test", folder))
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => `test/${folder}/${file}`)
      .filter((file) => {
        const text = readFileSync(join(circuitsFolder, file), "utf8");
        const files = subjects(text, sources).flatMap((subject) => [...filesOf(sources, subject)]);
        return files.some((path) => changed.includes(path));
      }),
  );
  return [...new Set([...concerned, ...ALWAYS])];
}

/** The circuits that depend on a changed file. */
export function circuitsOf(changed: readonly string[], sources: Sources = readSources()): string[] {
  return circuitNames.filter((name) => [...filesOf(sources, `${name}.circom`)].some((file) => changed.includes(file)));
}

/** Tests by what they need: nothing (attacks), the compiled circuits, or also the packages with generated sources. */
export function groupTests(tests: readonly string[]) {
  const importsPackages = (file: string) =>
    readFileSync(join(circuitsFolder, file), "utf8").includes('from "@sotto/protocol"');
  const attacks = tests.filter((file) => file.includes("/soundness/"));
  const packages = tests.filter(importsPackages);
  return { attacks, packages, circuits: tests.filter((file) => !attacks.includes(file) && !packages.includes(file)) };
}
