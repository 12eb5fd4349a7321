// Bundles the page for a browser: two modules, without anything of Node.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";

/** The page, and the worker that proves. */
export const ENTRIES = ["page", "prover"] as const;

/**
 * @param folder where page.js, prover.js and their page go
 * @returns for each entry the files that esbuild wrote: their sizes, imports and the modules they were made of
 */
export async function buildPage(folder: string): Promise<Record<(typeof ENTRIES)[number], Metafile>> {
  mkdirSync(folder, { recursive: true });
  const bundle = async (entry: string): Promise<Metafile> => {
    const { metafile } = await build({
      entryPoints: [join(import.meta.dirname, `${entry}.ts`)],
      outdir: folder,
      bundle: true,
      format: "esm",
      // Modules that are imported only if needed (snarkjs, if the browser cannot run the fast engine) get separate files.
      splitting: true,
      metafile: true,
      platform: "browser",
      // WebAssembly and top-level await; no browser that can prove is older.
      target: "es2022",
      minify: true,
      logLevel: "error",
    });
    return metafile;
  };
  const [page, prover] = [await bundle("page"), await bundle("prover")];
  for (const file of ["index.html", "page.css"]) copyFileSync(join(import.meta.dirname, file), join(folder, file));
  return { page, prover };
}
