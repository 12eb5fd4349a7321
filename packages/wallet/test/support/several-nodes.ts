import { type ChainSource, isNodeFault } from "@sotto/chain";
import { firstOf } from "@sotto/test-kit/first-of";

/** A node of this chain with some changed responses. */
export const nodeOf = (chain: ChainSource, changes: Partial<ChainSource> = {}): ChainSource => ({
  chainId: () => chain.chainId(),
  head: () => chain.head(),
  block: (number) => chain.block(number),
  logs: (query) => chain.logs(query),
  code: (address) => chain.code(address),
  call: (call, block) => chain.call(call, block),
  ...changes,
});

/** A source with several nodes. An action uses the first node that is not at fault, a single request the last node. */
export const nodesOf = (...nodes: ChainSource[]): ChainSource => ({
  ...nodeOf(nodes.at(-1)!),
  useNode: firstOf(nodes, isNodeFault),
});
