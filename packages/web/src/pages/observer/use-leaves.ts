import { useEffect, useState } from "react";
import { poolFeed } from "../../engine/pool-feed.ts";
import { toBytes32 } from "../../lib/bytes32.ts";

/** Number of recent appends to search: a wallet proves on a recent root, so its append is usually among these. */
const RECENT_APPENDS = 512;

/** The number of leaves under a root; undefined if no append made it. */
export async function leavesUnder(root: bigint): Promise<number | undefined> {
  const recent = (await poolFeed().appends(RECENT_APPENDS)).find((append) => append.root === root);
  if (recent !== undefined) return recent.start + recent.count;
  const { hits } = await poolFeed().search(toBytes32(root), 1);
  const hit = hits.find(({ kind }) => kind === "root");
  const transaction = hit === undefined ? undefined : await poolFeed().transaction(hit.transactionHash);
  for (const { event } of transaction?.events ?? [])
    if (event.type === "appended" && event.newRoot === root) return event.startIndex + event.count;
  return undefined;
}

/** Like `leavesUnder`; undefined while it is being read. */
export function useLeavesUnder(root: bigint | undefined): number | undefined {
  const [found, setFound] = useState<{ root: bigint; leaves: number | undefined }>();
  useEffect(() => {
    if (root === undefined) return;
    let current = true;
    leavesUnder(root).then(
      (leaves) => current && setFound({ root, leaves }),
      // The feed's state reports the failure.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [root]);
  return found?.root === root ? found?.leaves : undefined;
}
