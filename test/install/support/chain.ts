// A local chain with a pool, for the users' programs.

import { deployLocal } from "@sotto/local/chain/deployment";
import { startNode } from "@sotto/local/chain/node";
import type { DeploymentManifest } from "@sotto/protocol";
import { atEnd } from "@sotto/test-kit/at-end";

interface Chain {
  readonly url: string;
  readonly deployment: DeploymentManifest;
}

let starting: Promise<Chain> | undefined;
const cleanup: (() => Promise<void>)[] = [];

export const chain = (): Promise<Chain> => (starting ??= start());

async function start(): Promise<Chain> {
  const node = await startNode();
  cleanup.push(() => node.stop());
  return { url: node.url, deployment: await deployLocal(node.url) };
}

atEnd(async () => {
  for (const action of cleanup) await action();
});
