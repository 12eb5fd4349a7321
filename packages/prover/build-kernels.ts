// node build-kernels.ts, after the compiler: replaces dist/fast/kernels.js with the kernels' assembled bytes. They are not
// committed: each build makes them from src.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { KernelCode } from "./src/fast/kernel.ts";
import { curveCode, scalarCode } from "./src/fast/kernels.ts";

const inflated = (bytes: Uint8Array): string =>
  `await inflate("${deflateRawSync(bytes, { level: 9 }).toString("base64")}")`;
const literal = ({ modulus, bytes, constants }: KernelCode): string =>
  `{ modulus: ${modulus}n, bytes: ${inflated(bytes)}, constants: ${inflated(constants)} }`;

const built = join(import.meta.dirname, "dist", "fast", "kernels.js");
writeFileSync(
  built,
  `// Assembled by build-kernels.ts from src/fast.
import { inflate } from "./inflate.js";
export const curveCode = async () => (${literal(await curveCode())});
export const scalarCode = async () => (${literal(await scalarCode())});
`,
);
// It would lead from the assembled bytes to the code that assembles them.
rmSync(`${built}.map`, { force: true });
