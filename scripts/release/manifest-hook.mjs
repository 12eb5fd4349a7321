// Hook of `pnpm pack` (scripts/release/pack.ts): completes a package's manifest for publication. It copies the fields
// that all packages share from the checkout's package.json, and leaves out the fields that only the checkout uses.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const { author, homepage, bugs, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

export const hooks = {
  /** @param folder the folder of the package */
  beforePacking({ devDependencies, scripts, ...manifest }, folder) {
    const place = repository === undefined ? {} : { repository: { ...repository, directory: relative(root, folder) } };
    return {
      ...manifest,
      ...Object.fromEntries(Object.entries({ author, homepage, bugs }).filter(([, value]) => value !== undefined)),
      ...place,
      publishConfig: { access: "public", provenance: true },
    };
  },
};
