import type { Curve } from "ffjavascript";

/** snarkjs keeps a pool of threads in a global; nothing in its interface stops it. */
export async function stopSnarkjs(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: Curve | null };
  await curve?.terminate();
}
