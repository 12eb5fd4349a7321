/** Shares a multi-scalar multiplication between two threads, so that neither waits long for the other. */
import type { Share } from "../fast/msm.ts";

/** Windows of a group. With few, the thread that ends first does not wait long; with more, a batch of additions is larger. */
const WINDOWS = 2;

/** The number of groups claimed so far, in memory of both threads. */
export type ClaimedGroups = Int32Array<SharedArrayBuffer>;

/** How a thread takes groups: from a number of both threads, or, if they share no memory, every other one from `first` on. */
export type Claims = ClaimedGroups | { readonly first: 0 | 1 };

/** Whether threads can share memory. A page shares none unless it is isolated from other origins. */
export function hasSharedMemory(): boolean {
  const { crossOriginIsolated } = globalThis as { readonly crossOriginIsolated?: boolean | undefined };
  return typeof SharedArrayBuffer === "function" && crossOriginIsolated !== false;
}

export function newClaimedGroups(): ClaimedGroups {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** The claims of two threads. */
export function claimsOfTwo(): readonly [Claims, Claims] {
  if (!hasSharedMemory()) return [{ first: 0 }, { first: 1 }];
  const groups = newClaimedGroups();
  return [groups, groups];
}

export function shareOf(claims: Claims): Share {
  if (!("first" in claims)) return { windows: WINDOWS, claim: () => Atomics.add(claims, 0, 1) };
  let next: number = claims.first;
  return {
    windows: WINDOWS,
    claim: () => {
      next += 2;
      return next - 2;
    },
  };
}
