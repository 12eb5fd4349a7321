/** Shares a multi-scalar multiplication between two threads, so that neither waits long for the other. */
import type { Share } from "../fast/msm.ts";

/** Windows of a group. With few, the thread that ends first does not wait long; with more, a batch of additions is larger. */
const WINDOWS = 2;

/** The number of groups claimed so far, in memory of both threads. */
export type ClaimedGroups = Int32Array<SharedArrayBuffer>;

export function newClaimedGroups(): ClaimedGroups {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

export function shareOf(claims: ClaimedGroups): Share {
  return { windows: WINDOWS, claim: () => Atomics.add(claims, 0, 1) };
}
