/** What threads share: a multi-scalar multiplication, so that neither waits long for the other, and bytes. */
import type { Share } from "../fast/msm.ts";

/** The number of groups claimed so far, in memory of both threads. */
export type ClaimedGroups = Int32Array<SharedArrayBuffer>;

/** How a thread takes groups: from a number of both threads, or, if they share no memory, every other one from `first` on. */
export type Claims = ClaimedGroups | { readonly first: 0 | 1 };

/** Whether threads can share memory. A page shares none unless it is isolated from other origins. */
export function hasSharedMemory(): boolean {
  const { crossOriginIsolated } = globalThis as { readonly crossOriginIsolated?: boolean | undefined };
  return typeof SharedArrayBuffer === "function" && crossOriginIsolated !== false;
}

/**
 * Bytes for other threads: in memory of all, if threads can share memory, because a message with other memory is copied twice for
 * each thread, and one copy cannot be wiped.
 */
export function forThreads(bytes: Uint8Array): Uint8Array {
  return isShared(bytes) || !hasSharedMemory() ? bytes : copyForThreads(bytes);
}

/** A copy of bytes for other threads, which the caller wipes. */
export function copyForThreads(bytes: Uint8Array): Uint8Array {
  if (!hasSharedMemory()) return bytes.slice();
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

export const isShared = ({ buffer }: Uint8Array): boolean =>
  Object.prototype.toString.call(buffer) === "[object SharedArrayBuffer]";

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
  if (!("first" in claims)) return () => Atomics.add(claims, 0, 1);
  let next: number = claims.first;
  return () => {
    next += 2;
    return next - 2;
  };
}
