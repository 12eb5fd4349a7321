// Checks that every dependency's licence is compatible with GPL-3.0-or-later, the licence of this project's tree (circomlib and
// snarkjs are GPL-3.0), and that packages under Apache-2.0 need nothing else. It prints what is not, and exits with 1.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { checkClosures } from "./closure.ts";
import { isCompatible } from "./spdx.ts";

/** The output of `pnpm licenses list --json`: packages by licence. */
type Licences = Record<string, { name: string; versions: string[] }[]>;

/** Packages without an SPDX identifier in package.json, with the licence that their licence text states. */
const READ_BY_HAND: Record<string, string> = {
  esprima: "BSD-2-Clause",
};

export function offenders(licences: Licences): string[] {
  return Object.entries(licences).flatMap(([licence, packages]) =>
    packages
      .filter(({ name }) => !isCompatible(licence) && !isCompatible(READ_BY_HAND[name] ?? ""))
      .map(({ name, versions }) => `${name}@${versions.join(", ")}: ${licence}`),
  );
}

if (import.meta.main) {
  const options = {
    cwd: join(import.meta.dirname, "..", ".."),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  } as const;
  const licences = JSON.parse(execFileSync("pnpm", ["licenses", "list", "--json", "--recursive"], options)) as Licences;
  const count = Object.values(licences).flat().length;
  const found = offenders(licences);
  // An empty list would pass the check, but the tools alone have hundreds of packages.
  if (count < 100) found.push(`pnpm listed only ${count} packages`);
  for (const line of found) console.error(`not known to be compatible with GPL-3.0-or-later: ${line}`);
  console.log(`${count} dependencies, ${found.length} with an incompatible licence`);
  const { permissive, needed, problems } = checkClosures(join(options.cwd, "packages"));
  for (const line of problems) console.error(line);
  console.log(`${permissive.length} packages under Apache-2.0 need ${needed}; ${problems.length} problems`);
  process.exitCode = found.length + problems.length === 0 ? 0 : 1;
}
