import { type Block, type ChainSource, readBlock, useNode } from "@sotto/chain";

/**
 * A chain that ends `depth` blocks before its newest block: what a follower reads of it has that many blocks on top.
 * @param depth blocks, 0 for the whole chain
 */
export function confirmedChain(source: ChainSource, depth: number): ChainSource {
  return {
    chainId: () => source.chainId(),
    async head(): Promise<Block> {
      const head = await source.head();
      return depth === 0 ? head : readBlock(source, Math.max(0, head.number - depth));
    },
    block: (number) => source.block(number),
    logs: (query) => source.logs(query),
    code: (address, block) => source.code(address, block),
    call: (call, block) => source.call(call, block),
    useNode: (action, accept) => useNode(source, (node) => action(confirmedChain(node, depth)), accept),
  };
}
