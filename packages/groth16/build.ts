// node build.ts, after the compiler, which writes the declarations: bundles each entry point into one module, because loading
// sixty takes a new process as long as preparing a key. The kernels of a proof are assembled here, from src/fast; they are not
// committed.
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { build, type Plugin } from "esbuild";
import bn128 from "wasmcurves/build/bn128_wasm.js";
import wasmcurves from "wasmcurves/package.json" with { type: "json" };
import type { KernelCode } from "./src/fast/kernel.ts";
import { curveCode, probeCode, scalarCode, witnessReaderCode } from "./src/fast/kernels.ts";

const source = join(import.meta.dirname, "src");

const inflated = (bytes: Uint8Array): string =>
  `await inflate("${deflateRawSync(bytes, { level: 9 }).toString("base64")}")`;
const literal = ({ modulus, bytes, constants }: KernelCode): string =>
  `{ modulus: ${modulus}n, bytes: ${inflated(bytes)}, constants: ${inflated(constants)} }`;

/** Replaces src/fast/kernels.ts by the assembled bytes. */
const kernels: Plugin = {
  name: "kernels",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]fast[\\/]kernels\.ts$/ }, async () => ({
      contents: `import { inflate } from "./inflate.ts";
export const curveCode = async () => (${literal(await curveCode())});
export const scalarCode = async () => (${literal(await scalarCode())});
export const witnessReaderCode = () => Uint8Array.of(${witnessReaderCode().join()});
export const probeCode = () => Uint8Array.of(${probeCode().join()});
`,
    }));
  },
};

/**
 * Puts the parts of wasmcurves that src/curve.ts uses into the bundle, as an object that a page's bundler leaves out if it is
 * not used. It could not leave out the import, because wasmcurves does not say that importing it has no effect.
 */
const curve: Plugin = {
  name: "curve",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^wasmcurves\// }, ({ path }) => ({ path, namespace: "curve" }));
    onLoad({ filter: /./, namespace: "curve" }, () => {
      const { code, prePSize, preQSize } = bn128;
      return {
        contents: `/*! wasmcurves ${wasmcurves.version}, (c) ${wasmcurves.author}, ${wasmcurves.license} */
export default ${JSON.stringify({ code, prePSize, preQSize })};`,
      };
    });
  },
};

await build({
  entryPoints: ["index.ts", "kernel.ts", "fast-worker.ts"].map((entry) => join(source, entry)),
  outdir: join(import.meta.dirname, "dist"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2023",
  packages: "external",
  sourcemap: true,
  sourcesContent: false,
  plugins: [kernels, curve],
  logLevel: "warning",
});
