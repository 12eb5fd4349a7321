// node build-kernels.ts, after the compiler: replaces dist/fast/kernels.js with the kernels' assembled bytes. They are not
// committed: each build makes them from src.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KernelCode } from "./src/fast/kernel.ts";
import { curveCode, scalarCode } from "./src/fast/kernels.ts";

const decoded = (bytes: Uint8Array): string => `fromBase64("${Buffer.from(bytes).toString("base64")}")`;
const literal = ({ modulus, bytes, constants }: KernelCode): string =>
  `{ modulus: ${modulus}n, bytes: ${decoded(bytes)}, constants: ${decoded(constants)} }`;

const built = join(import.meta.dirname, "dist", "fast", "kernels.js");
writeFileSync(
  built,
  `// Assembled by build-kernels.ts from src/fast.
import { fromBase64 } from "../base64.js";
export const curveCode = () => (${literal(curveCode())});
export const scalarCode = () => (${literal(scalarCode())});
`,
);
// It would lead from the assembled bytes to the code that assembles them.
rmSync(`${built}.map`, { force: true });
