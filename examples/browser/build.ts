// Bundles the page for a browser: two modules, nothing of Node in them.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** @param folder where page.js, prover.js and their page go */
export async function buildPage(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, "page.ts"), join(import.meta.dirname, "prover.ts")],
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "browser",
    // WebAssembly and top-level await; no browser that can prove is older.
    target: "es2022",
    minify: true,
    logLevel: "error",
  });
  for (const file of ["index.html", "page.css"]) copyFileSync(join(import.meta.dirname, file), join(folder, file));
}
