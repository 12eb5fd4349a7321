import { type ChainSource, isNodeFault } from "@sotto/chain";

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
export function nodesOf(...nodes: ChainSource[]): ChainSource {
  const useNode: NonNullable<ChainSource["useNode"]> = async (action, accept = () => true) => {
    let last: { answer: Awaited<ReturnType<typeof action>> } | undefined;
    let fault: unknown;
    for (const node of nodes)
      try {
        const answer = await action(node);
        if (accept(answer)) return answer;
        last = { answer };
      } catch (error) {
        if (!isNodeFault(error)) throw error;
        fault = error;
      }
    if (fault !== undefined || last === undefined) throw fault;
    return last.answer;
  };
  return { ...nodeOf(nodes.at(-1)!), useNode };
}
