// node build.ts, after the compiler, which writes the declarations: bundles each entry point into one module, because loading
// sixty takes a new process as long as preparing a key. The kernels of a proof are assembled here, from src/fast; they are not
// committed.
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { type BuildOptions, build, type Plugin } from "esbuild";
import type { KernelCode } from "./src/fast/kernel.ts";
import { curveCode, probeCode, scalarCode, simdProbeCode, witnessReaderCode } from "./src/fast/kernels.ts";
import { pairingCode } from "./src/pairing/code.ts";
import * as plain from "./src/plain-kernels.ts";
import * as roots from "./src/root-kernels.ts";

const source = join(import.meta.dirname, "src");

const inflated = (bytes: Uint8Array): string =>
  `await inflate("${deflateRawSync(bytes, { level: 9 }).toString("base64")}")`;
const literal = ({ modulus, bytes, constants }: KernelCode): string =>
  `{ modulus: ${modulus}n, bytes: ${inflated(bytes)}, constants: ${inflated(constants)} }`;

type Codes = Readonly<Record<string, () => Promise<KernelCode>>>;

const codes = async (functions: Codes, inflate: string): Promise<string> => {
  const exports = Object.entries(functions).map(
    async ([name, code]) => `export const ${name} = async () => (${literal(await code())});\n`,
  );
  return `import { inflate } from "${inflate}";\n${(await Promise.all(exports)).join("")}`;
};

/** Replaces src/fast/kernels.ts and the modules of other kernels by the assembled bytes; the latter remain modules of their own. */
const kernels: Plugin = {
  name: "kernels",
  setup({ onLoad, onResolve }) {
    for (const [name, functions] of Object.entries({ "plain-kernels": plain, "root-kernels": roots })) {
      onResolve({ filter: new RegExp(`[\\\\/]${name}\\.ts$`) }, ({ kind }) =>
        kind === "dynamic-import" ? { path: `./${name}.js`, external: true } : undefined,
      );
      onLoad({ filter: new RegExp(`[\\\\/]src[\\\\/]${name}\\.ts$`) }, async () => ({
        contents: await codes({ ...functions }, "./fast/inflate.ts"),
      }));
    }
    onLoad({ filter: /[\\/]src[\\/]fast[\\/]kernels\.ts$/ }, async () => ({
      contents: `${await codes({ curveCode, scalarCode }, "./inflate.ts")}
export const witnessReaderCode = () => Uint8Array.of(${witnessReaderCode().join()});
export const probeCode = () => Uint8Array.of(${probeCode().join()});
export const simdProbeCode = () => Uint8Array.of(${simdProbeCode().join()});
`,
    }));
  },
};

/**
 * Replaces src/pairing/code.ts by the assembled bytes. They are not compressed, because a browser decompresses only asynchronously, and
 * points are checked at once.
 */
const pairing: Plugin = {
  name: "pairing",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]pairing[\\/]code\.ts$/ }, () => {
      const { bytes, constants, ...layout } = pairingCode();
      const literal = (code: Uint8Array): string => `fromBase64("${Buffer.from(code).toString("base64")}")`;
      return {
        contents: `import { fromBase64 } from "../base64.ts";
const layout = ${JSON.stringify(layout)};
export const pairingCode = () => ({ ...layout, bytes: ${literal(bytes)}, constants: ${literal(constants)} });
`,
      };
    });
  },
};

/** The program imports the package's bundle. */
const program: Plugin = {
  name: "program",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/index\.ts$/ }, () => ({ path: "./index.js", external: true }));
  },
};

const options: BuildOptions = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2023",
  packages: "external",
  plugins: [kernels, pairing],
  logLevel: "warning",
};

const { outputFiles } = await build({
  ...options,
  entryPoints: [join(source, "fast-worker.ts")],
  format: "iife",
  minify: true,
  write: false,
});

/** Replaces src/worker-source.ts by the bundled worker, as a module of its own. */
const workerSource: Plugin = {
  name: "worker-source",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /[\\/]worker-source\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./worker-source.js", external: true } : undefined,
    );
    onLoad({ filter: /[\\/]src[\\/]worker-source\.ts$/ }, () => ({
      contents: `export const workerSource = ${JSON.stringify(outputFiles?.[0]?.text)};`,
    }));
  },
};

const ENTRY_POINTS = [
  ...["index.ts", "kernel.ts", "main.ts", "fast-worker.ts"],
  ...["plain-kernels.ts", "root-kernels.ts", "worker-source.ts"],
];

await build({
  ...options,
  entryPoints: ENTRY_POINTS.map((entry) => join(source, entry)),
  outdir: join(import.meta.dirname, "dist"),
  sourcemap: true,
  sourcesContent: false,
  plugins: [kernels, pairing, program, workerSource],
});
