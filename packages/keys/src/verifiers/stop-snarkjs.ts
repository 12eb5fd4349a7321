import type { Curve } from "ffjavascript";

/** The library's internal field that holds its pool's threads. */
interface Pool {
  readonly workers?: readonly { terminate(): void }[];
}

/** Stops snarkjs's pool of threads, which it keeps in a global variable and never stops itself. */
export async function stopSnarkjs(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: (Curve & { readonly tm: Pool }) | null };
  await curve?.terminate();
  // `terminate` only asks the threads to exit. On a busy machine, one thread did not exit, and the process never ended.
  for (const worker of curve?.tm.workers ?? []) worker.terminate();
}
