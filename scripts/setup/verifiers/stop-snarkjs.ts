import type { Curve } from "ffjavascript";

/** The pool's threads, as its library keeps them. */
interface Pool {
  readonly workers?: readonly { terminate(): void }[];
}

/** snarkjs keeps a pool of threads in a global; nothing in its interface stops it. */
export async function stopSnarkjs(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: (Curve & { readonly tm: Pool }) | null };
  await curve?.terminate();
  // `terminate` only asks the threads to end. On a busy machine one did not, and the process never ended.
  for (const worker of curve?.tm.workers ?? []) worker.terminate();
}
