import type { Deployed } from "./deploy.ts";

/** Storage slots of the queue in NoteTree: the packed counters and the ring. */
const STATE_SLOT = 0n;
const RING_SLOT = 1n;

/** The packed counters, lowest bits first: name and width, as declared in NoteQueue.State. */
const LAYOUT = [
  ["size", 32],
  ["appended", 32],
  ["due", 32],
  ["lastAppended", 32],
  ["newest", 32],
  ["newestLeaves", 8],
  ["newestTime", 64],
] as const;

type Counters = Record<(typeof LAYOUT)[number][0], bigint>;

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

/**
 * Sets counters of the queue as if the pool had a long history, because a test cannot queue a billion leaves or
 * thousands of checkpoints. Throws if the layout is not the one above.
 */
export async function patchQueue(deployed: Deployed, change: Partial<Counters>): Promise<void> {
  const { ethers, networkHelpers } = deployed.connection;
  let packed = BigInt(await ethers.provider.getStorage(deployed.poolAddress, STATE_SLOT));
  const state = await deployed.pool.queue();
  let shift = 0n;
  for (const [name, width] of LAYOUT) {
    const mask = ((1n << BigInt(width)) - 1n) << shift;
    if ((packed & mask) >> shift !== state[name])
      throw new Error(`the storage layout has changed: ${name} is at another position`);
    const value = change[name];
    if (value !== undefined) packed = (packed & ~mask) | (value << shift);
    shift += BigInt(width);
  }
  await networkHelpers.setStorageAt(deployed.poolAddress, STATE_SLOT, word(packed));
}

/** Marks a ring slot as used. */
export async function useRingSlot(deployed: Deployed, slot: bigint): Promise<void> {
  const { ethers, networkHelpers } = deployed.connection;
  const position = ethers.keccak256(
    ethers.AbiCoder.defaultAbiCoder().encode(["uint256", "uint256"], [slot, RING_SLOT]),
  );
  await networkHelpers.setStorageAt(deployed.poolAddress, position, word(1n));
}
