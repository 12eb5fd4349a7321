// node build.ts, after the compiler, which writes the declarations: bundles each entry point into one module, so that a new
// process or page loads few files.
import { join } from "node:path";
import { build } from "esbuild";

const source = join(import.meta.dirname, "src");

await build({
  entryPoints: ["index.ts", "origin.ts", "scan.ts", "indexeddb.ts"].map((entry) => join(source, entry)),
  outdir: join(import.meta.dirname, "dist"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2023",
  packages: "external",
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
});
