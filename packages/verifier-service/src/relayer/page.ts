import type { PoolPage } from "@sotto/chain";
import type { LedgerPage, Row } from "../store/index.ts";

/** Converts a page of events to rows. */
export function ledgerPage({ start, events, leaves, appends, anchors }: PoolPage): LedgerPage {
  const spends: Row<"spends">[] = [];
  for (const event of events) {
    if (event.type !== "settled" && event.type !== "withdrawn") continue;
    const { digest, transactionHash: tx_hash, blockNumber: block_number } = event;
    // An unused nullifier of a withdrawal is 0.
    const nullifiers = event.type === "settled" ? [event.nullifier] : event.nullifiers.filter((one) => one !== 0n);
    for (const nullifier of nullifiers) spends.push({ nullifier: String(nullifier), digest, tx_hash, block_number });
  }
  return {
    leaves: leaves.map(({ leaf, blockNumber: block_number }, index) => ({
      leaf_index: start.leaves + index,
      commitment: String(leaf),
      block_number,
    })),
    appends: appends.map(({ size, root, blockNumber: block_number }) => ({ size, root: String(root), block_number })),
    spends,
    blocks: anchors.map(({ number, hash, timestamp }) => ({ number, hash, timestamp })),
  };
}
